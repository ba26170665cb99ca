/** A flow as a small drawing: a dot for each step, in the order in which they run. */
import { plural, t } from '@lingui/core/macro';
import type { Blueprint } from '@/api/playbooks';
import classes from './blueprints.module.css';

type Step = Blueprint['steps'][number];

const WIDTH = 320;
const HEIGHT = 72;
const EDGE = 10;

interface Dot {
  step: Step;
  x: number;
  y: number;
}

/** Each step one column after the last of those before it. */
export function columnsOf(steps: readonly Step[]): Step[][] {
  const known = new Map(steps.map((step) => [step.id, step]));
  const depths = new Map<string, number>();
  const depthOf = (step: Step, above: ReadonlySet<string>): number => {
    const found = depths.get(step.id);
    if (found !== undefined) return found;
    const before = step.after
      .flatMap((id) => known.get(id) ?? [])
      .filter(({ id }) => !above.has(id));
    const inside = new Set([...above, step.id]);
    const depth = Math.max(-1, ...before.map((each) => depthOf(each, inside))) + 1;
    depths.set(step.id, depth);
    return depth;
  };
  const columns: Step[][] = [];
  for (const step of steps) (columns[depthOf(step, new Set([step.id]))] ??= []).push(step);
  return columns.filter((column) => column.length > 0);
}

function placed(steps: readonly Step[]): Dot[] {
  const columns = columnsOf(steps);
  const across = columns.length > 1 ? (WIDTH - 2 * EDGE) / (columns.length - 1) : 0;
  return columns.flatMap((column, number) =>
    column.map((step, row) => ({
      step,
      x: EDGE + number * across,
      y: (HEIGHT * (row + 1)) / (column.length + 1),
    })),
  );
}

/** Steps at which a person decides stand out. */
const ASKS = new Set(['approval', 'question']);

export function FlowSketch({ title, steps }: { title: string; steps: readonly Step[] }) {
  const dots = new Map(placed(steps).map((dot) => [dot.step.id, dot]));
  const asking = steps.filter(({ type }) => ASKS.has(type)).length;
  const words =
    asking === 0
      ? ''
      : plural(asking, {
          one: `, of which ${asking} asks a person`,
          other: `, of which ${asking} ask a person`,
        });
  return (
    <svg
      className={classes.sketch}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={t`Flow of ${title}: ${steps.length} steps${words}`}
    >
      {[...dots.values()].flatMap(({ step, x, y }) =>
        step.after.flatMap((id) => {
          const from = dots.get(id);
          if (from === undefined) return [];
          const middle = (from.x + x) / 2;
          return [
            <path
              key={`${id} ${step.id}`}
              d={`M${from.x} ${from.y}C${middle} ${from.y} ${middle} ${y} ${x} ${y}`}
            />,
          ];
        }),
      )}
      {[...dots.values()].map(({ step, x, y }) => (
        <circle key={step.id} cx={x} cy={y} r={5} data-asks={ASKS.has(step.type) || undefined}>
          <title>{step.title}</title>
        </circle>
      ))}
    </svg>
  );
}
