/** Small charts of a column, drawn as plain SVG: a histogram, and bars of its commonest values. */
import { t } from '@lingui/core/macro';
import { CellText } from '@/components/CellText';
import { useFormats } from '@/components/format';
import classes from './profile.module.css';

const WIDTH = 240;
const HEIGHT = 48;
const SMALLEST = 1.5;

interface HistogramProps {
  column: string;
  counts: number[];
  labels: string[];
}

export function Histogram({ column, counts, labels }: HistogramProps) {
  const formats = useFormats();
  const highest = Math.max(...counts, 1);
  const step = WIDTH / Math.max(1, counts.length);
  return (
    <div>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        className={classes.histogram}
        role="img"
        aria-label={t`Distribution of ${column} from ${labels[0] ?? ''} to ${labels.at(-1) ?? ''}`}
      >
        {counts.map((count, index) => {
          const height = count === 0 ? 0 : Math.max(SMALLEST, (count / highest) * HEIGHT);
          return (
            <rect
              key={index}
              x={index * step}
              y={HEIGHT - height}
              width={Math.max(0.5, step - 1)}
              height={height}
            >
              <title>{`${labels[index] ?? ''} – ${labels[index + 1] ?? ''}: ${formats.number(count)}`}</title>
            </rect>
          );
        })}
      </svg>
      <div className={classes.axis}>
        <span>{labels[0]}</span>
        <span>{labels.at(-1)}</span>
      </div>
    </div>
  );
}

interface TopProps {
  values: { value: string; rows: number }[];
  rows: number;
}

const SHOWN = 5;

export function TopValues({ values, rows }: TopProps) {
  const formats = useFormats();
  return (
    <ol className={classes.top}>
      {values.slice(0, SHOWN).map(({ value, rows: count }) => (
        <li key={value}>
          <span
            className={classes.topBar}
            style={{ width: `${(count / Math.max(1, rows)) * 100}%` }}
          />
          <span className={classes.topValue}>
            <CellText value={value} />
          </span>
          <span className="tabular">{formats.number(count)}</span>
        </li>
      ))}
    </ol>
  );
}
