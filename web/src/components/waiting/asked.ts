/** What a person is asked, in one line. */
import type { Waiting } from '@/api/run-types';

export function askedIn({ kind, title, request }: Waiting): string {
  if (kind === 'question') return request?.question ?? title;
  if (kind === 'gate') return request?.message ?? title;
  if (kind === 'budget') return 'There is not enough budget left';
  return title;
}
