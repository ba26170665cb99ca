/** Other ways to read a file or a column: each is one click away. */
import { t } from '@lingui/core/macro';
import { Button, Group, Stack, Text } from '@mantine/core';
import type { Alternative } from '@/api/uploads';
import { withAlternative } from './corrections';
import type { LoadOptions } from './use-file-load';

interface Props {
  alternatives: Alternative[];
  options: LoadOptions;
  disabled: boolean;
  onCorrect: (options: LoadOptions) => void;
  /** Said above them, where they are not beside what they concern. */
  title?: string;
}

export function Alternatives({ alternatives, options, disabled, onCorrect, title }: Props) {
  if (alternatives.length === 0) return null;
  const label = title ?? t`Read differently`;
  return (
    <Stack gap={4} role="group" aria-label={label} mt={title === undefined ? 4 : 0}>
      {title !== undefined && (
        <Text size="sm" fw={500}>
          {title}
        </Text>
      )}
      {alternatives.map((alternative) => (
        <Group key={alternative.says} gap="xs" wrap="wrap">
          <Button
            size="compact-xs"
            variant="default"
            disabled={disabled}
            onClick={() => onCorrect(withAlternative(options, alternative.options))}
          >
            {alternative.says}
          </Button>
          <Text size="xs" c="dimmed">
            {alternative.why}
          </Text>
        </Group>
      ))}
    </Stack>
  );
}
