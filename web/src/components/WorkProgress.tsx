/** How far some work has come. */
import { t } from '@lingui/core/macro';
import { Button, Group, Progress, Stack, Text } from '@mantine/core';
import { useFormats } from './format';

interface Props {
  /** What is being done. */
  doing: string;
  done: number;
  /** Unknown for work of unknown length. */
  total: number | null;
  format?: (value: number) => string;
  onCancel?: (() => void) | undefined;
}

export function WorkProgress({ doing, done, total, format, onCancel }: Props) {
  const formats = useFormats();
  const write = format ?? formats.number;
  const isKnown = total !== null && total > 0;
  const percent = isKnown ? Math.min(100, (done / total) * 100) : 100;
  return (
    <Stack gap={6} aria-busy>
      <Group justify="space-between" gap="xs">
        <Text size="sm" role="status">
          {doing}
        </Text>
        <Group gap="xs">
          <Text size="xs" c="dimmed" className="tabular">
            {isKnown ? t`${write(done)} of ${write(total)}` : done > 0 && write(done)}
          </Text>
          {onCancel && (
            <Button variant="subtle" color="gray" size="compact-xs" onClick={onCancel}>
              {t`Cancel`}
            </Button>
          )}
        </Group>
      </Group>
      <Progress.Root size="sm">
        <Progress.Section
          value={percent}
          animated={!isKnown}
          aria-label={doing}
          // Without a number, screen readers say that it is under way.
          {...(isKnown ? {} : { 'aria-valuenow': undefined, 'aria-valuetext': t`under way` })}
        />
      </Progress.Root>
    </Stack>
  );
}
