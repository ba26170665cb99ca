/** What the fields of an agent are called. */
export const FIELDS: Record<string, string> = {
  name: 'Name',
  title: 'Title',
  description: 'When to choose it',
  instructions: 'Instructions',
  role: 'Role',
  model: 'Model',
  tools: 'Tools',
  highest_risk: 'May do at most',
  skills: 'Skills',
  guardrails: 'Guardrails',
  handoffs: 'Handing over',
  budget: 'Budget',
  memory: 'Memory',
  input: 'Input schema',
  output: 'Output schema',
};
