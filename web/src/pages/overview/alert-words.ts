/** Figures of alert rules in words and with their units. */
import type { AlertItem, Figure } from '@/api/alerts';
import type { Formats } from '@/components/format';
import { dollars } from '@/components/amounts';

export const FIGURES: { value: Figure; label: string; unit: string }[] = [
  { value: 'failed_runs', label: 'Failed runs', unit: 'runs' },
  { value: 'error_rate', label: 'Error rate', unit: 'percent' },
  { value: 'runs', label: 'Runs ended', unit: 'runs' },
  { value: 'spend', label: 'Spend', unit: 'dollars' },
  { value: 'tokens', label: 'Tokens', unit: 'tokens' },
  { value: 'mean_duration', label: 'Mean duration', unit: 'seconds' },
  { value: 'approvals_waiting', label: 'Approvals waiting', unit: 'approvals' },
  { value: 'approval_age', label: 'Age of the oldest waiting approval', unit: 'hours' },
  { value: 'forecast_7', label: 'Forecast spend, next 7 days', unit: 'dollars' },
  { value: 'forecast_30', label: 'Forecast spend, next 30 days', unit: 'dollars' },
  { value: 'budget_forecast', label: 'Budget expected to be used', unit: 'percent' },
  { value: 'output_drift', label: 'Drift of outputs', unit: 'percent' },
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

export function unitOf(figure: string): string {
  return FIGURES.find(({ value }) => value === figure)?.unit ?? '';
}

export function amountOf(formats: Formats, figure: string, value: number | null): string {
  if (value === null) return 'none';
  if (isDrift(figure)) return value === 1 ? '1 change' : `${formats.number(value)} changes`;
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
  recovered: 'Back within its limit',
  new_normal: 'Accepted as the new normal',
  rule_changed: 'The rule was changed',
  rule_deleted: 'The rule was deleted',
};
