/** Language models of the project. */
import { t } from '@lingui/core/macro';
import { BrainCircuit } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'models',
  title: t`Models`,
  icon: BrainCircuit,
  section: 'manage',
  order: 20,
  minimumRole: 'viewer',
  keywords: t`llm, language model, provider, ollama, openai, anthropic, key`.split(', '),
  commands: [{ label: t`Add a model`, search: { dialog: 'add' }, minimumRole: 'admin' }],
  component: () => import('./ModelsPage'),
});
