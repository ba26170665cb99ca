/** What a person is asked, in one line. */
import { t } from '@lingui/core/macro';
import type { Waiting } from '@/api/run-types';

export function askedIn({ kind, title, request }: Waiting): string {
  if (kind === 'question') return request?.question ?? title;
  if (kind === 'gate') return request?.message ?? title;
  if (kind === 'budget') return t`There is not enough budget left`;
  return title;
}
