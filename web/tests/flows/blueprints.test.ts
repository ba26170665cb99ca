/** Every blueprint and example is opened, changed by what people do on the canvas, and kept for the server to run. */
import { describe, expect, it } from 'vitest';
import {
  addNode,
  connect,
  copyNodes,
  graphOf,
  pasteNodes,
  removeNodes,
  renameNode,
  setField,
} from '@/flows/edits';
import { edgesOf, graphsWithin, type Language, nodesWithin } from '@/flows/graph';
import { record, redo, startHistory, undo } from '@/flows/history';
import { type Layout, place, readLayout } from '@/flows/layout';
import { addNote, changeNote, renameKeys } from '@/flows/layout-edits';
import type { Drawing } from '@/flows/merge';
import vectors from './vectors.json';

const language: Language = {
  types: new Map(vectors.types.map((type) => [type.type, type])),
  telling: vectors.telling,
  expressions: vectors.expressions,
};

type Gesture = (drawing: Drawing) => Drawing;

const inText =
  (edit: (text: string) => string): Gesture =>
  ({ text, layout }) => ({ text: edit(text), layout });

const stepsIn = (text: string) =>
  nodesWithin(graphOf(text, language)).filter(({ isImplied }) => !isImplied);

/** Another id for every step, those inside others first: their keys begin with the ids around them. */
function renamedSteps(text: string): Gesture[] {
  const inwards = stepsIn(text).sort((a, b) => b.path.length - a.path.length);
  return inwards.map(({ key, id }) => ({ text: now, layout }) => ({
    text: renameNode(now, language, key, `new_${id}`),
    layout: renameKeys(layout, key, `${key.slice(0, key.length - id.length)}new_${id}`),
  }));
}

/** One more step before the first, a copy of it that is deleted again, a title, a place, a note. */
function gestures(text: string): Gesture[] {
  const graph = graphOf(text, language);
  const [first] = graph.nodes;
  const last = stepsIn(text).at(-1);
  if (!first || !last) throw new Error('This flow has no steps.');
  const [before, end] = [first, last].map(({ key }) => key.replaceAll(/[^/]+/g, 'new_$&'));
  const fields = { title: 'Look again', language: 'sql', code: 'SELECT 1 AS one' };
  const look = { graph: graph.path, id: 'look_again', type: 'code', fields };
  const atTheStart = (now: string) =>
    connect(addNode(now, language, { ...look, needs: [] }), language, {
      before: look.id,
      after: before ?? '',
      port: '',
    });
  return [
    ...renamedSteps(text),
    inText(atTheStart),
    inText(
      (now) => pasteNodes(now, language, graph.path, copyNodes(now, language, [look.id])).text,
    ),
    inText((now) => removeNodes(now, language, ['look_again_2'])),
    inText((now) => setField(now, language, end ?? '', ['title'], 'Changed on the canvas')),
    ({ text: now, layout }) => ({
      text: now,
      layout: { ...layout, places: { ...layout.places, [before ?? '']: { x: 40, y: 80 } } },
    }),
    ({ text: now, layout }) => {
      const noted = addNote(layout, { x: 0, y: 400 });
      return { text: now, layout: changeNote(noted.layout, noted.id, 'Ask Ada first') };
    },
  ];
}

function drawn({ text, layout }: Drawing): {
  nodes: Record<string, string>;
  edges: string[];
  layout: Layout;
} {
  const graph = graphOf(text, language);
  expect(place(graph, layout).items).toHaveLength(graph.nodes.length);
  return {
    nodes: Object.fromEntries(nodesWithin(graph).map(({ key, type }) => [key, type])),
    edges: graphsWithin(graph)
      .flatMap(edgesOf)
      .map(({ before, after, port }) => `${before}.${port}>${after}`)
      .sort(),
    layout,
  };
}

describe('every blueprint and example', () => {
  it('is changed on the canvas, and the server runs what is drawn', async () => {
    const changed = vectors.flows.map(({ name, text }) => {
      const start: Drawing = { text, layout: readLayout({}) };
      const made = gestures(text);
      let history = startHistory(start);
      for (const gesture of made) history = record(history, gesture(history.now));
      const end = history.now;
      made.forEach(() => (history = undo(history)));
      expect(history.now).toEqual(start);
      made.forEach(() => (history = redo(history)));
      expect(history.now).toEqual(end);
      return { name, text: end.text, ...drawn(end) };
    });
    // tests/playbooks/test_blueprints_changed.py saves and runs these. A changed blueprint changes them: npx vitest -u.
    await expect(`${JSON.stringify(changed, null, 1)}\n`).toMatchFileSnapshot('changed.json');
  });
});
