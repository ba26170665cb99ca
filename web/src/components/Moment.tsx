/** A point in time: relative for reading, exact on hover and for machines. */
import { useSyncExternalStore } from 'react';
import { useFormats } from './format';

const TICK = 30_000;

/** One clock for all shown times, so that a long table costs one timer. */
const clock = (() => {
  let now = Date.now();
  let timer: ReturnType<typeof setInterval> | undefined;
  const listeners = new Set<() => void>();
  const tick = () => {
    now = Date.now();
    listeners.forEach((listener) => listener());
  };
  return {
    subscribe: (listener: () => void) => {
      if (listeners.size === 0) {
        now = Date.now();
        timer = setInterval(tick, TICK);
      }
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) clearInterval(timer);
      };
    },
    now: () => now,
  };
})();

export function RelativeTime({ value }: { value: string }) {
  const now = useSyncExternalStore(clock.subscribe, clock.now);
  const formats = useFormats();
  return (
    <time dateTime={value} title={formats.dateTime(value)}>
      {formats.relative(value, now)}
    </time>
  );
}

export function FormattedDate({ value, withTime = false }: { value: string; withTime?: boolean }) {
  const formats = useFormats();
  return (
    <time dateTime={value} title={formats.dateTime(value)}>
      {withTime ? formats.dateTime(value) : formats.date(value)}
    </time>
  );
}
