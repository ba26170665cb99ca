/** Says at each edge of the canvas how many boxes are beyond it, and leads there. */
import { t } from '@lingui/core/macro';
import { Panel, type PanelPosition, useReactFlow, useStore } from '@xyflow/react';
import { ArrowDown, ArrowLeft, ArrowRight, ArrowUp } from 'lucide-react';
import type { Drawn } from './drawn';
import { type Hidden, hiddenBoxes } from './opening-view';
import classes from './flows.module.css';

interface Side {
  side: keyof Hidden;
  at: PanelPosition;
  where: string;
  icon: typeof ArrowLeft;
  /** Which way the view goes, across and down. */
  way: [number, number];
}

const SIDES: Side[] = [
  { side: 'left', at: 'top-left', where: t`to the left`, icon: ArrowLeft, way: [-1, 0] },
  { side: 'right', at: 'top-right', where: t`to the right`, icon: ArrowRight, way: [1, 0] },
  { side: 'above', at: 'top-center', where: 'above', icon: ArrowUp, way: [0, -1] },
  { side: 'below', at: 'bottom-center', where: 'below', icon: ArrowDown, way: [0, 1] },
];
/** Of a page, so that what was at the edge is still in view. */
const PART = 0.75;

export function EdgeHints({ boxes }: { boxes: readonly Drawn[] }) {
  const { getViewport, setViewport } = useReactFlow();
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  const counts = useStore(({ transform: [x, y, zoom] }) =>
    width === 0 ? '' : countsText(hiddenBoxes(boxes, { x, y, zoom }, width, height)),
  );
  const hidden = counts.split(' ').map(Number);
  return SIDES.map(({ side, at, where, icon: Icon, way: [across, down] }, index) => {
    const count = hidden[index] ?? 0;
    if (count === 0) return null;
    return (
      <Panel key={side} position={at}>
        <button
          type="button"
          className={classes.edgeHint}
          aria-label={t`${count} more ${where}`}
          title={t`${count} more ${where}`}
          onClick={() => {
            const { x, y, zoom } = getViewport();
            void setViewport({
              x: x - across * PART * width,
              y: y - down * PART * height,
              zoom,
            });
          }}
        >
          <Icon size={14} aria-hidden />
          {t`${count} more`}
        </button>
      </Panel>
    );
  });
}

/** One value that stays the same while the view moves and nothing comes or goes. */
const countsText = ({ left, right, above, below }: Hidden) => `${left} ${right} ${above} ${below}`;
