/** Language models of the project. */
import { BrainCircuit } from 'lucide-react';
import { definePage } from '@/app/page-definition';

export const page = definePage({
  scope: 'project',
  path: 'models',
  title: 'Models',
  icon: BrainCircuit,
  section: 'manage',
  order: 20,
  minimumRole: 'viewer',
  keywords: ['llm', 'language model', 'provider', 'ollama', 'openai', 'anthropic', 'key'],
  commands: [{ label: 'Add a model', search: { dialog: 'add' }, minimumRole: 'admin' }],
  component: () => import('./ModelsPage'),
});
