/** What the fields of an agent are called. */
import { t } from '@lingui/core/macro';

export const FIELDS: Record<string, string> = {
  name: t`Name`,
  title: t`Title`,
  description: t`When to choose it`,
  instructions: t`Instructions`,
  role: 'Role',
  model: t`Model`,
  tools: t`Tools`,
  highest_risk: t`May do at most`,
  skills: t`Skills`,
  guardrails: t`Guardrails`,
  handoffs: t`Handing over`,
  budget: t`Budget`,
  memory: t`Memory`,
  input: t`Input schema`,
  output: t`Output schema`,
};
