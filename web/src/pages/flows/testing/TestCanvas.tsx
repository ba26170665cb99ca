/** The drawing of a flow under test: how each step went, what is pinned, where it pauses. */
import { useQuery } from '@tanstack/react-query';
import { ReactFlowProvider } from '@xyflow/react';
import { useMemo, useState } from 'react';
import type { FlowPalette } from '@/api/flows';
import type { Price, TestResults } from '@/api/playbook-tests';
import type { Tool } from '@/api/run-types';
import { toolsQuery } from '@/api/tools';
import { useProject } from '@/app/project';
import { readYaml } from '@/flows/document';
import { type Language, readGraph } from '@/flows/graph';
import { readLayout } from '@/flows/layout';
import Canvas from '../Canvas';
import { type Actions, CanvasActions } from '../canvas-actions';
import { drawnBoxes, type Marks, triggersOf } from '../drawn';
import { kindName } from '../entries';
import { pricesByNode } from '../standing';
import { stepState } from './step-state';
import classes from './testing.module.css';

interface Props {
  text: string;
  layout: Record<string, unknown>;
  language: Language;
  names: FlowPalette;
  results: TestResults | undefined;
  mocks: Readonly<Record<string, unknown>>;
  breakpoints: readonly string[];
  /** What each step cost in past runs. */
  price: Price | undefined;
  chosen: string | null;
  onChoose: (key: string) => void;
}

const NO_TOOLS: readonly Tool[] = [];
const NOTHING: Pick<Marks, 'problems' | 'standings'> = {
  problems: new Map(),
  standings: new Map(),
};

export function TestCanvas(props: Props) {
  const { text, language, names, results, mocks, breakpoints, price, chosen, onChoose } = props;
  const document = useMemo(() => readYaml(text).value, [text]);
  const graph = useMemo(() => readGraph(document, language), [document, language]);
  const [layout, setLayout] = useState(() => readLayout(props.layout));
  const { boxes, lines } = useMemo(() => {
    const drawn = drawnBoxes(graph, layout, triggersOf(document), {
      ...NOTHING,
      stateOf: (key) => stepState(key, results, mocks),
      prices: pricesByNode(price),
    });
    const marked = drawn.boxes.map((box) =>
      breakpoints.includes(box.id) ? { ...box, className: classes.breakpoint ?? '' } : box,
    );
    return { ...drawn, boxes: marked };
  }, [graph, layout, document, results, mocks, breakpoints, price]);
  const tools = useQuery(toolsQuery(useProject().id)).data ?? NO_TOOLS;
  const actions = useMemo(
    (): Actions => ({
      toggle: (key) =>
        setLayout(({ closed, ...layout }) => ({
          ...layout,
          closed: closed.includes(key) ? closed.filter((each) => each !== key) : [...closed, key],
        })),
      addInto: null,
      nameOf: (node) => kindName(names, tools, node),
    }),
    [names, tools],
  );
  const selected = useMemo(() => (chosen === null ? [] : [chosen]), [chosen]);
  return (
    <CanvasActions value={actions}>
      <ReactFlowProvider>
        <Canvas
          boxes={boxes}
          lines={lines}
          selected={selected}
          focus={null}
          mayEdit={false}
          onSelect={(keys) => {
            const [first] = keys;
            if (first !== undefined && !first.startsWith('trigger:')) onChoose(first);
          }}
          onMove={() => undefined}
          onConnect={() => undefined}
          onRemove={() => undefined}
          onDropEntry={() => undefined}
        />
      </ReactFlowProvider>
    </CanvasActions>
  );
}
