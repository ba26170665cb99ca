/** One version of a flow on a canvas that nobody can change, with marks on what differs. */
import { useQuery } from '@tanstack/react-query';
import { ReactFlowProvider } from '@xyflow/react';
import { useMemo, useState } from 'react';
import type { RevisionDetail } from '@/api/deployments';
import type { FlowPalette } from '@/api/flows';
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
import type { Marked } from './differences';
import classes from './versions.module.css';

interface Props {
  revision: RevisionDetail;
  marks: Marked;
  language: Language;
  names: FlowPalette;
  chosen: string | null;
  onChoose: (key: string) => void;
}

const NO_TOOLS: readonly Tool[] = [];
const NOTHING: Pick<Marks, 'problems' | 'standings'> = {
  problems: new Map(),
  standings: new Map(),
};

export function VersionCanvas({ revision, marks, language, names, chosen, onChoose }: Props) {
  const document = useMemo(() => readYaml(revision.text).value, [revision.text]);
  const graph = useMemo(() => readGraph(document, language), [document, language]);
  const [layout, setLayout] = useState(() => readLayout(revision.layout ?? {}));
  const { boxes, lines } = useMemo(() => {
    const drawn = drawnBoxes(graph, layout, triggersOf(document), {
      ...NOTHING,
      stateOf: (key) => marks.get(key) ?? null,
    });
    const marked = drawn.boxes.map((box) => {
      const state = marks.get(box.id);
      return state ? { ...box, className: classes[state] ?? '' } : box;
    });
    return { ...drawn, boxes: marked };
  }, [graph, layout, document, marks]);
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
  const isHere = chosen !== null && boxes.some(({ id }) => id === chosen);
  return (
    <CanvasActions value={actions}>
      <ReactFlowProvider>
        <Canvas
          boxes={boxes}
          lines={lines}
          selected={isHere ? [chosen] : []}
          focus={isHere ? chosen : null}
          mayEdit={false}
          onSelect={(keys) => {
            const [first] = keys;
            if (first !== undefined) onChoose(first);
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
