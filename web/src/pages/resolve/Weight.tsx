/** Evidence in bits: for or against, with a bar as long as it is strong. */
import { t } from '@lingui/core/macro';
import { VisuallyHidden } from '@mantine/core';
import { useFormats } from '@/components/format';
import classes from './resolve.module.css';

/** Bits from which the bar is full. */
const FULL = 16;

export function Weight({ bits }: { bits: number }) {
  const formats = useFormats();
  const written = new Intl.NumberFormat(formats.locale, {
    signDisplay: 'always',
    minimumFractionDigits: 1,
    maximumFractionDigits: 1,
  }).format(bits);
  return (
    <span className={classes.weight}>
      <span className="tabular">{written}</span>
      <VisuallyHidden>{bits > 0 ? t` for` : t` against`}</VisuallyHidden>
      <span className={classes.bar} aria-hidden>
        <span
          data-against={bits < 0}
          style={{ width: `${Math.min(100, (Math.abs(bits) / FULL) * 100)}%` }}
        />
      </span>
    </span>
  );
}
