/** Periods of budgets in words. */
import { t } from '@lingui/core/macro';
import type { BudgetItem } from '@/api/budgets';

type Period = BudgetItem['period'];

/** As in "$50 per week". */
export const PERIOD_NAMES: Record<Period, string> = { day: t`day`, week: t`week`, month: t`month` };

/** As in "$10 this week". */
export const CURRENT_PERIOD: Record<Period, string> = {
  day: t`today`,
  week: t`this week`,
  month: t`this month`,
};
