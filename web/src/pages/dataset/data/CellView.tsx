/** A value in full, with the rest of its row. */
import { t } from '@lingui/core/macro';
import { Modal, Stack, Text } from '@mantine/core';
import type { ColumnInfo } from '@/api/data-types';
import { CellText, isEncrypted } from '@/components/CellText';
import { CodeBlock } from '@/components/CodeBlock';
import { useFormats } from '@/components/format';
import classes from './grid.module.css';
import type { CellPlace } from './grid-keys';

interface Props {
  columns: ColumnInfo[];
  place: CellPlace | null;
  row: (string | null)[] | undefined;
  onClose: () => void;
}

export function CellView({ columns, place, row, onClose }: Props) {
  const formats = useFormats();
  const value = place ? (row?.[place.column] ?? null) : null;
  const name = place ? (columns[place.column]?.name ?? '') : '';
  return (
    <Modal
      opened={place !== null && row !== undefined}
      onClose={onClose}
      size="lg"
      title={t`${name}, row ${formats.number((place?.row ?? 0) + 1)}`}
    >
      <Stack>
        {value === null || isEncrypted(value) ? (
          <CellText value={value} />
        ) : (
          <CodeBlock label={name} code={value} />
        )}
        <div>
          <Text size="sm" fw={600} mb={4}>
            {t`The whole row`}
          </Text>
          <dl className={classes.record}>
            {columns.map((column, index) => (
              <div key={column.name}>
                <dt>{column.name}</dt>
                <dd>
                  <CellText value={row?.[index] ?? null} />
                </dd>
              </div>
            ))}
          </dl>
        </div>
      </Stack>
    </Modal>
  );
}
