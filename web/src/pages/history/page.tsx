/** What was done to the data of the project. */
import { GitCommitVertical } from 'lucide-react';
import { definePage } from '@/app/page-definition';

const loadUndo = () => import('@/components/data-undo');

export const page = definePage({
  scope: 'project',
  path: 'history',
  title: 'History',
  icon: GitCommitVertical,
  section: 'data',
  order: 80,
  minimumRole: 'viewer',
  keywords: ['commits', 'versions', 'undo', 'redo', 'restore'],
  component: () => import('./HistoryPage'),
  commands: [
    {
      label: 'Undo the last change to data',
      minimumRole: 'editor',
      run: (projectId) => void loadUndo().then(({ undoData }) => undoData(projectId)),
    },
    {
      label: 'Redo what was undone last',
      minimumRole: 'editor',
      run: (projectId) => void loadUndo().then(({ redoData }) => redoData(projectId)),
    },
  ],
});
