/** Figures of alert rules in words and with their units. */
import { plural, t } from '@lingui/core/macro';
import type { AlertItem, Figure } from '@/api/alerts';
import type { Formats } from '@/components/format';
import { dollars } from '@/components/amounts';

type Unit = 'runs' | 'percent' | 'dollars' | 'tokens' | 'seconds' | 'approvals' | 'hours';

export const FIGURES: { value: Figure; label: string; unit: Unit }[] = [
  { value: 'failed_runs', label: t`Failed runs`, unit: 'runs' },
  { value: 'error_rate', label: t`Error rate`, unit: 'percent' },
  { value: 'runs', label: t`Runs ended`, unit: 'runs' },
  { value: 'spend', label: t`Spend`, unit: 'dollars' },
  { value: 'tokens', label: t`Tokens`, unit: 'tokens' },
  { value: 'mean_duration', label: t`Mean duration`, unit: 'seconds' },
  { value: 'approvals_waiting', label: t`Approvals waiting`, unit: 'approvals' },
  { value: 'approval_age', label: t`Age of the oldest waiting approval`, unit: 'hours' },
  { value: 'forecast_7', label: t`Forecast spend, next 7 days`, unit: 'dollars' },
  { value: 'forecast_30', label: t`Forecast spend, next 30 days`, unit: 'dollars' },
  { value: 'budget_forecast', label: t`Budget expected to be used`, unit: 'percent' },
  { value: 'output_drift', label: t`Drift of outputs`, unit: 'percent' },
];

const INSTANT = new Set<string>([
  'approvals_waiting',
  'approval_age',
  'forecast_7',
  'forecast_30',
  'budget_forecast',
  'output_drift',
]);

/** Figures of one moment have no window and no usual value. */
export function isInstant(figure: string): boolean {
  return INSTANT.has(figure);
}

/** Outputs are compared with earlier ones of the same flow: there is no limit to choose. */
export function isDrift(figure: string): boolean {
  return figure === 'output_drift';
}

/** Too few approvals, or a budget that is hardly used, raise no alert. */
export function isAboveOnly(figure: string): boolean {
  return figure.startsWith('approval') || figure === 'budget_forecast';
}

const UNITS: Record<Unit, string> = {
  runs: t`runs`,
  percent: t`percent`,
  dollars: t`dollars`,
  tokens: t`tokens`,
  seconds: t`seconds`,
  approvals: t`approvals`,
  hours: t`hours`,
};

const unitOf = (figure: string) => FIGURES.find(({ value }) => value === figure)?.unit;

export function unitName(figure: string): string {
  const unit = unitOf(figure);
  return unit === undefined ? '' : UNITS[unit];
}

export function amountOf(formats: Formats, figure: string, value: number | null): string {
  if (value === null) return t`none`;
  if (isDrift(figure))
    return plural(value, { one: `1 change`, other: `${formats.number(value)} changes` });
  const rounded = formats.number(Math.round(value * 10) / 10);
  switch (unitOf(figure)) {
    case 'dollars':
      return dollars(formats, value);
    case 'percent':
      return `${rounded}%`;
    case 'seconds':
      return `${rounded} s`;
    case 'hours':
      return `${rounded} h`;
    default:
      return rounded;
  }
}

/** The page of the project that shows what a figure is made of. */
export function pageOf(figure: string): string {
  switch (figure) {
    case 'failed_runs':
    case 'error_rate':
      return 'runs?status=failed';
    case 'runs':
    case 'mean_duration':
      return 'runs';
    case 'approvals_waiting':
    case 'approval_age':
      return 'inbox';
    case 'budget_forecast':
      return 'overview?tab=budgets';
    default:
      return 'overview?tab=costs';
  }
}

export const RESOLVED_WORDS: Record<NonNullable<AlertItem['resolved_why']>, string> = {
  recovered: t`Back within its limit`,
  new_normal: t`Accepted as the new normal`,
  rule_changed: t`The rule was changed`,
  rule_deleted: t`The rule was deleted`,
};
