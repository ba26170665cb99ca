/** The present moment, again every second while somebody looks. */
import { useEffect, useState } from 'react';

export function useNow(enabled = true, every = 1_000): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!enabled) return;
    const timer = setInterval(() => setNow(Date.now()), every);
    return () => clearInterval(timer);
  }, [enabled, every]);
  return now;
}
