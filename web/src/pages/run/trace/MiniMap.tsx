/** How many spans are open, and where some failed, over the whole time; a click goes there. */
import { t } from '@lingui/core/macro';
import { memo, type MouseEvent } from 'react';
import type { TraceBucket } from '@/api/observe';
import classes from './trace.module.css';

interface Props {
  /** Missing until they are read. */
  buckets: readonly TraceBucket[] | undefined;
  onSpan: (position: number) => void;
}

export const MiniMap = memo(function MiniMap({ buckets, onSpan }: Props) {
  if (buckets === undefined) return <div className={classes.map} aria-busy />;
  if (buckets.length === 0) return null;
  const most = Math.max(1, ...buckets.map(({ spans }) => spans));
  const points = buckets.map(({ spans }, at) => `${at},${20 - (spans / most) * 19}`).join(' ');
  const end = buckets.length - 1;
  const go = (event: MouseEvent<HTMLButtonElement>) => {
    // By keyboard there is no place in it: the beginning.
    const { left, width } = event.currentTarget.getBoundingClientRect();
    const at =
      event.detail === 0 ? 0 : Math.floor(((event.clientX - left) / width) * buckets.length);
    const bucket = buckets[Math.max(0, Math.min(end, at))];
    if (bucket) onSpan(bucket.position);
  };
  return (
    <button
      type="button"
      className={classes.map}
      aria-label={t`Go to a time of the trace`}
      onClick={go}
    >
      <svg viewBox={`0 0 ${end} 20`} preserveAspectRatio="none" aria-hidden>
        <polygon points={`0,20 ${points} ${end},20`} />
        {buckets.map(({ errors }, at) =>
          errors > 0 ? <rect key={at} x={at - 0.5} y={0} width={1} height={20} /> : null,
        )}
      </svg>
    </button>
  );
});
