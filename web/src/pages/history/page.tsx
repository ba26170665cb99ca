/** What was done to the data of the project. */
import { t } from '@lingui/core/macro';
import { GitCommitVertical } from 'lucide-react';
import { definePage } from '@/app/page-definition';

const loadUndo = () => import('@/components/data-undo');

export const page = definePage({
  scope: 'project',
  path: 'history',
  title: t`History`,
  icon: GitCommitVertical,
  section: 'data',
  order: 80,
  minimumRole: 'viewer',
  keywords: t`commits, versions, undo, redo, restore`.split(', '),
  component: () => import('./HistoryPage'),
  commands: [
    {
      label: t`Undo the last change to data`,
      minimumRole: 'editor',
      run: (projectId) => void loadUndo().then(({ undoData }) => undoData(projectId)),
    },
    {
      label: t`Redo what was undone last`,
      minimumRole: 'editor',
      run: (projectId) => void loadUndo().then(({ redoData }) => redoData(projectId)),
    },
  ],
});
