/** What one flow did lately. */
import { usePathParam } from '@/components/use-path-param';
import { DetailPage } from './DetailPage';

export default function FlowDetailPage() {
  return <DetailPage kind="flow" name={usePathParam('flow') ?? ''} />;
}
