/** The choices that make a chart: its kind, its columns and the period of a date. */
import { t } from '@lingui/core/macro';
import { Select } from '@mantine/core';
import { isMoment } from '@/components/column-types';
import {
  AGGREGATES,
  CHART_KINDS,
  type ChartField,
  type ChartRequest,
  fieldsFor,
  PERIODS,
  withKind,
} from './chart-request';

interface Props {
  chart: ChartRequest;
  columns: readonly { name: string; type: string }[];
  onChange: (chart: ChartRequest) => void;
}

const LABELS = {
  x: t`Across`,
  time_unit: t`Period`,
  y: t`Measured`,
  colour: t`Colour`,
  value: t`Value`,
  aggregate: t`Calculated as`,
};
/** What a field offers where that is not the columns. */
const CHOICES: Partial<Record<ChartField, string[]>> = {
  aggregate: AGGREGATES,
  time_unit: PERIODS,
};

export function ChartFields({ chart, columns, onChange }: Props) {
  const across = columns.find(({ name }) => name === chart.x);
  const fields = fieldsFor(chart.kind).filter(
    ({ field }) => field !== 'time_unit' || isMoment(across?.type ?? ''),
  );
  const change = (field: ChartField, value: string | null) =>
    onChange({ ...chart, ...(field === 'x' && { time_unit: null }), [field]: value });
  return (
    <>
      <Select
        label={t`Kind`}
        data={CHART_KINDS}
        value={chart.kind}
        allowDeselect={false}
        onChange={(kind) => kind !== null && onChange(withKind(chart, kind))}
      />
      {fields.map(({ field, required }) => (
        <Select
          key={field}
          label={LABELS[field]}
          withAsterisk={required}
          data={CHOICES[field] ?? columns.map(({ name }) => name)}
          value={chart[field] ?? null}
          placeholder={required ? t`Choose a column` : t`automatic`}
          searchable={!(field in CHOICES)}
          clearable={!required}
          onChange={(value) => change(field, value)}
        />
      ))}
    </>
  );
}
