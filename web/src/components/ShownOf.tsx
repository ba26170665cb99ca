/** Says how much of a list is shown, with a button that shows all of it. */
import { t } from '@lingui/core/macro';
import { Button, Group, Text } from '@mantine/core';
import { useFormats } from './format';

interface Props {
  shown: number;
  all: number;
  /** What is counted, in the plural. */
  of: string;
  /** Left out where the rest is not at hand. */
  onShowAll?: () => void;
}

export function ShownOf({ shown, all, of, onShowAll }: Props) {
  const formats = useFormats();
  if (shown >= all) return null;
  return (
    <Group gap="xs" mt={4}>
      <Text size="xs" c="dimmed" className="tabular">
        {t`${formats.number(shown)} of ${formats.number(all)} ${of}`}
      </Text>
      {onShowAll && (
        <Button size="compact-xs" variant="subtle" onClick={onShowAll}>
          {t`Show all`}
        </Button>
      )}
    </Group>
  );
}
