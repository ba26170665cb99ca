/** What was done to this dataset. */
import type { Dataset } from '@/api/data-types';
import { CommitList } from '@/pages/history/CommitList';

export default function HistoryTab({ dataset }: { dataset: Dataset }) {
  return <CommitList dataset={dataset.name} />;
}
