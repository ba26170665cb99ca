/** The canvas apart from the drawing library: places, boxes, the palette, and which values are offered. */
import { describe, expect, it } from 'vitest';
import { arrange } from '@/flows/arrange';
import { graphOf } from '@/flows/edits';
import { place, placeAfter, readLayout } from '@/flows/layout';
import { drawnBoxes, placeWithin, triggersOf } from '@/pages/flows/drawn';
import { foundEntries, paletteEntries } from '@/pages/flows/entries';
import { offeredAt, valueNames } from '@/pages/flows/offered';
import vectors from '../flows/vectors.json';

const language = {
  types: new Map(vectors.types.map((type) => [type.type, type])),
  telling: vectors.telling,
};
const TEXT = `inputs: {type: object, properties: {month: {type: string}}}
triggers: [{type: cron, name: weekly}]
graph:
  nodes:
  - {id: load, type: code, language: sql, code: SELECT 1}
  - {id: ask, type: approval, needs: [load], message: Go on?}
  - id: each
    type: map
    needs: [ask.approved]
    over: nodes.load.output.rows
    body:
      nodes:
      - {id: one, type: tool, tool: clean}
  - {id: stop, type: output, needs: [ask.rejected], value: no}
`;
const document = {
  inputs: { properties: { month: {} } },
  triggers: [{ type: 'cron', name: 'weekly' }],
};
const graph = graphOf(TEXT, language);
const marks = { problems: new Map([['each/one', ['is missing']]]), stateOf: () => null };

describe('places', () => {
  it('go from left to right, and nothing lies over another', () => {
    const { items } = place(graph, readLayout({}));
    const at = Object.fromEntries(items.map(({ node, at: point }) => [node.id, point]));
    expect(at.load?.x).toBeLessThan(at.ask?.x ?? 0);
    expect(at.ask?.x).toBeLessThan(at.each?.x ?? 0);
    expect(at.each?.x).toBe(at.stop?.x);
    const each = items.find(({ node }) => node.id === 'each');
    expect(at.stop?.y).toBeGreaterThan((at.each?.y ?? 0) + (each?.size.height ?? 0));
    expect(placeAfter(items, 'ask')?.y).toBeGreaterThan(at.stop?.y ?? 0);
  });

  it('that people chose stay, and what is no place is left out', () => {
    const layout = readLayout({
      places: { load: { x: 5, y: 6 }, ask: 'here' },
      closed: ['each', 3],
    });
    expect(layout).toEqual({ places: { load: { x: 5, y: 6 } }, closed: ['each'] });
    const { items } = place(graph, layout);
    expect(items[0]?.at).toEqual({ x: 5, y: 6 });
    expect(items.find(({ node }) => node.id === 'each')?.lanes).toEqual([]);
  });

  it('are found by dagre for a cycle too', () => {
    const nodes = ['a', 'b'].map((key) => ({ key, size: { width: 10, height: 10 } }));
    const edges = [
      { before: 'a', after: 'b' },
      { before: 'b', after: 'a' },
    ];
    expect(Object.keys(arrange({ nodes, edges }))).toEqual(['a', 'b']);
  });
});

describe('boxes', () => {
  const { boxes, lines, items } = drawnBoxes(graph, readLayout({}), triggersOf(document), marks);

  it('of nodes inside others belong to them, with their problems', () => {
    const inner = boxes.find(({ id }) => id === 'each/one');
    expect(inner?.parentId).toBe('each');
    expect(inner?.data.problems).toBe(1);
    const moved = placeWithin(items, 'each/one', inner?.position ?? { x: 0, y: 0 });
    expect(moved).toEqual({ x: 0, y: 0 });
  });

  it('of triggers lead to what starts the flow', () => {
    const [first] = lines;
    expect([first?.source, first?.target]).toEqual(['trigger:0', 'load']);
    expect(lines.find(({ target }) => target === 'each')?.sourceHandle).toBe('out:approved');
  });
});

describe('values', () => {
  const names = valueNames(document, graph, graph.nodes[2] ?? ({} as never));

  it('are the inputs and what ran before', () => {
    expect(names).toEqual(['inputs.month', 'nodes.ask.output', 'nodes.load.output', 'run.id']);
  });

  it('are offered behind ${ and put in whole', () => {
    const text = 'Go on with ${nodes.l now';
    const offered = offeredAt(text, 'Go on with ${nodes.l'.length, names, false);
    expect(offered.names).toEqual(['nodes.load.output']);
    expect(offered.insert('nodes.load.output')).toBe('Go on with ${nodes.load.output} now');
    expect(offeredAt('nodes.l', 7, names, false).names).toEqual([]);
    expect(offeredAt('size(nodes.l', 12, names, true).names).toEqual(['nodes.load.output']);
  });
});

describe('the palette', () => {
  const palette = {
    nodes: [
      {
        ...{ type: 'code', description: 'SQL or Python', group: 'Code', settings: {}, exits: [] },
        ...{ graphs: [], flows: [], expressions: [] },
        starters: [{ title: 'SQL', fields: {} }],
      },
      {
        ...{ type: 'tool', description: 'Calls a tool', group: 'Tools', settings: {}, exits: [] },
        ...{ graphs: [], flows: [], expressions: [] },
        starters: [{ title: 'Call a tool', fields: {} }],
      },
    ],
    triggers: [
      {
        type: 'cron',
        title: 'On a schedule',
        description: 'At moments',
        starter: {},
        settings: {},
      },
    ],
    telling: {},
  };
  const tool = {
    ...{ name: 'send_slack', title: 'Write to Slack', description: '', effects: ['network'] },
    ...{ risk: 'external_send' as const, arguments: {}, has_dry_run: false, undo: 'none' as const },
  };
  const entries = paletteEntries(palette, [tool]);

  it('lists starts first and tools one by one', () => {
    expect(entries.map(({ title }) => title)).toEqual(['On a schedule', 'SQL', 'Write to Slack']);
    expect(entries[2]?.fields).toEqual({ tool: 'send_slack', arguments: {} });
  });

  it('finds by words', () => {
    expect(foundEntries(entries, 'slack write').map(({ id }) => id)).toEqual(['tool:send_slack']);
  });
});
