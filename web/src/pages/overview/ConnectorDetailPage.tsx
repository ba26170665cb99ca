/** What the calls to one connection did lately. */
import { usePathParam } from '@/components/use-path-param';
import { DetailPage } from './DetailPage';

export default function ConnectorDetailPage() {
  return <DetailPage kind="connector" name={usePathParam('connector') ?? ''} />;
}
