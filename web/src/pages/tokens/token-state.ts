/** Whether a token still works. */
import type { Token } from '@/api/types';

export type TokenState = 'active' | 'expired' | 'revoked';

/** The server brings a revoked token back for this long. */
const RESTORABLE_FOR = 10 * 60_000;

type Dates = Pick<Token, 'expires_at' | 'revoked_at'>;

export function tokenState({ expires_at, revoked_at }: Dates, now = Date.now()): TokenState {
  if (revoked_at !== null) return 'revoked';
  return Date.parse(expires_at) <= now ? 'expired' : 'active';
}

export function isRestorable({ revoked_at }: Dates, now = Date.now()): boolean {
  return revoked_at !== null && now - Date.parse(revoked_at) < RESTORABLE_FOR;
}
