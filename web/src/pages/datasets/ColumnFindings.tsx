/** The columns found in a file: proposed type, why, what forced the choice, and the first values. */
import { t } from '@lingui/core/macro';
import { Select, Text, TextInput } from '@mantine/core';
import type { ColumnFinding, Inspection } from '@/api/uploads';
import { Alternatives } from './Alternatives';
import { CellText } from '@/components/CellText';
import { isMoment, typeChoices } from '@/components/column-types';
import { useFormats } from '@/components/format';
import classes from './datasets.module.css';
import { withColumnFormat, withColumnType } from './corrections';
import type { LoadOptions } from './use-file-load';

const VALUES_SHOWN = 3;
/** Above this share of misfits a type is probably not the right one. */
const SHARE_ASKED = 0.05;

interface Props {
  inspection: Inspection;
  options: LoadOptions;
  disabled: boolean;
  onCorrect: (options: LoadOptions) => void;
}

export function ColumnFindings({ inspection, options, disabled, onCorrect }: Props) {
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
    <div className={classes.findings} role="group" aria-label={t`Columns found`} tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">{t`Column`}</th>
            <th scope="col">{t`Type`}</th>
            <th scope="col">{t`Why`}</th>
            <th scope="col">{t`First values`}</th>
          </tr>
        </thead>
        <tbody>
          {inspection.columns.map((column, index) => (
            <tr key={column.name}>
              <th scope="row">{column.name}</th>
              <td>
                <TypeChoice {...{ column, options, disabled, onCorrect }} />
              </td>
              <td>
                <Evidence column={column} />
                <Alternatives
                  {...{ options, disabled, onCorrect }}
                  alternatives={inspection.alternatives.filter(
                    (other) => other.column === column.name,
                  )}
                />
              </td>
              <td className={classes.values}>
                {inspection.rows.slice(0, VALUES_SHOWN).map((row, number) => (
                  <CellText key={number} value={row[index] ?? null} />
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface ChoiceProps extends Omit<Props, 'inspection'> {
  column: ColumnFinding;
}

function TypeChoice({ column, options, disabled, onCorrect }: ChoiceProps) {
  return (
    <>
      <Select
        aria-label={t`Type of ${column.name}`}
        w="12.5rem"
        data={typeChoices(column.type)}
        value={column.type}
        allowDeselect={false}
        disabled={disabled}
        comboboxProps={{ width: '17rem', position: 'bottom-start' }}
        onChange={(type) => {
          if (type !== null) onCorrect(withColumnType(options, column.name, type));
        }}
      />
      {isMoment(column.type) && (
        <TextInput
          aria-label={t`Format of ${column.name}`}
          placeholder={t`Format, as in %d.%m.%Y`}
          w="12.5rem"
          mt={4}
          size="xs"
          key={column.format}
          defaultValue={column.format ?? ''}
          disabled={disabled}
          onBlur={({ currentTarget: { value } }) => {
            if (value !== (column.format ?? '')) {
              onCorrect(withColumnFormat(options, column.name, column.type, value));
            }
          }}
        />
      )}
    </>
  );
}

function Evidence({ column }: { column: ColumnFinding }) {
  const formats = useFormats();
  return (
    <>
      <Text size="sm">{column.reason}</Text>
      {column.misfits > 0 && (
        <Text
          size="sm"
          fw={500}
          c={column.misfits > column.values * SHARE_ASKED ? 'red' : 'dimmed'}
        >
          {t`${formats.number(column.misfits)} of ${formats.number(column.values)} values do not fit.`}
        </Text>
      )}
      {column.samples.map(({ line, value, says }, number) => (
        <Text key={number} size="xs" c="dimmed">
          {line !== null && t`Line ${formats.number(line)}: `}
          <q className={classes.sample}>{value}</q> {says}
        </Text>
      ))}
      {column.nulls > 0 && (
        <Text size="xs" c="dimmed">
          {t`${formats.number(column.nulls)} of ${formats.number(column.records)} missing`}
        </Text>
      )}
    </>
  );
}
