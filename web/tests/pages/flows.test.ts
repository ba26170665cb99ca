/** The canvas apart from the drawing library: places, boxes, the palette, and which values are offered. */
import { describe, expect, it } from 'vitest';
import type { RunDetail } from '@/api/run-types';
import type { NodeStanding } from '@/api/runs';
import { cutOff, itemsDone, lineText, sizeText } from '@/components/line-counts';
import { arrange } from '@/flows/arrange';
import { graphOf } from '@/flows/edits';
import { place, placeAfter, readLayout } from '@/flows/layout';
import {
  addNote,
  aligned,
  changeNote,
  groupNodes,
  renameKeys,
  ungroup,
} from '@/flows/layout-edits';
import { shortestWay } from '@/pages/flows/Canvas';
import { placesText } from '@/pages/flows/Conflict';
import { selectionText } from '@/pages/flows/DrawingSettings';
import { stepsFound } from '@/pages/flows/find-step';
import { stepState } from '@/pages/flows/testing/step-state';
import { drawnBoxes, placeWithin, triggersOf } from '@/pages/flows/drawn';
import { foundEntries, kindName, paletteEntries } from '@/pages/flows/entries';
import { knownValues, partsOf } from '@/pages/flows/known-values';
import { branchOf, branchRead } from '@/pages/flows/shown-steps';
import { offeredAt, withValue } from '@/pages/flows/offered';
import { hiddenBoxes, openingView, opensCutOff, READABLE, WHOLE } from '@/pages/flows/opening-view';
import {
  comparedText,
  expectedText,
  isCallOf,
  keyBelongsTo,
  runPriceText,
  standingText,
} from '@/pages/flows/standing';
import { authorsBetween } from '@/pages/flows/versions/WhoseChanges';
import vectors from '../flows/vectors.json';

const language = {
  types: new Map(vectors.types.map((type) => [type.type, type])),
  telling: vectors.telling,
  expressions: vectors.expressions,
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
const marks = {
  problems: new Map([['each/one', [{ pointer: '', message: 'is missing' }]]]),
  stateOf: () => null,
  standings: new Map(),
};

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
    expect(layout).toEqual({
      ...{ places: { load: { x: 5, y: 6 } }, closed: ['each'] },
      ...{ notes: [], groups: [] },
    });
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

describe('the drawing', () => {
  const plain = readLayout({});

  it('has notes and groups that the flow knows nothing of', () => {
    const noted = addNote(plain, { x: 1, y: 2 });
    const written = changeNote(noted.layout, noted.id, 'Ask Ada first');
    const grouped = groupNodes(written, ['load', 'ask']);
    const again = readLayout(structuredClone({ ...grouped.layout }));
    expect(again).toEqual(grouped.layout);
    const drawn = drawnBoxes(graph, again, [], marks);
    const frame = drawn.boxes.find(({ type }) => type === 'frame');
    const load = drawn.boxes.find(({ id }) => id === 'load');
    expect(frame?.position.x).toBeLessThan(load?.position.x ?? 0);
    expect(drawn.boxes.find(({ type }) => type === 'note')?.data).toEqual({
      text: 'Ask Ada first',
    });
    expect(groupNodes(again, ['ask']).layout.groups.map(({ keys }) => keys)).toEqual([
      ['load'],
      ['ask'],
    ]);
    expect(ungroup(again, grouped.id).groups).toEqual([]);
  });

  it('keeps places and groups of a node with another id, and of those inside it', () => {
    const layout = {
      ...plain,
      places: { each: { x: 1, y: 1 }, 'each/one': { x: 2, y: 2 } },
      groups: [{ id: '1', title: '', keys: ['each'] }],
    };
    const { places, groups } = renameKeys(layout, 'each', 'all');
    expect(Object.keys(places)).toEqual(['all', 'all/one']);
    expect(groups[0]?.keys).toEqual(['all']);
  });

  it('puts boxes in lines', () => {
    const { items } = place(graph, plain);
    const lefts = Object.values(aligned(items, 'left')).map(({ x }) => x);
    expect(new Set(lefts).size).toBe(1);
    const row = aligned(items, 'row');
    expect(new Set(Object.values(row).map(({ y }) => y)).size).toBe(1);
    const inOrder = items.toSorted((a, b) => (row[a.node.key]?.x ?? 0) - (row[b.node.key]?.x ?? 0));
    inOrder.slice(1).forEach(({ node: { key } }, index) => {
      const before = inOrder[index];
      const end = (row[before?.node.key ?? '']?.x ?? 0) + (before?.size.width ?? 0);
      expect(row[key]?.x).toBeGreaterThan(end);
    });
  });
});

describe('boxes', () => {
  const { boxes, lines, items } = drawnBoxes(graph, readLayout({}), triggersOf(document), marks);

  it('of nodes inside others belong to them, with their problems', () => {
    const inner = boxes.find(({ id }) => id === 'each/one');
    expect(inner?.parentId).toBe('each');
    expect(inner?.data).toMatchObject({ problems: 1 });
    const moved = placeWithin(items, 'each/one', inner?.position ?? { x: 0, y: 0 });
    expect(moved).toEqual({ x: 0, y: 0 });
  });

  it('say where lines meet them, so that a line can lead to a box that is out of view', () => {
    const byId = new Map(boxes.map((box) => [box.id, box]));
    for (const { source, target, sourceHandle, targetHandle } of lines) {
      const ends = [
        [byId.get(source), sourceHandle, 'source'],
        [byId.get(target), targetHandle ?? 'in', 'target'],
      ] as const;
      for (const [box, id, type] of ends) {
        const handle = box?.handles?.find((each) => each.id === id);
        expect(handle?.type).toBe(type);
        expect(handle?.x).toBeLessThan(box?.width ?? 0);
        expect(handle?.y).toBeLessThan(box?.height ?? 0);
      }
    }
    const ask = byId.get('ask');
    const ways = ask?.handles?.filter(({ id }) => id !== 'in' && id !== 'out:error');
    expect(ways?.map(({ id }) => id)).toEqual(['out:approved', 'out:rejected']);
    expect(new Set(ways?.map(({ y }) => y)).size).toBe(2);
    expect(byId.get('stop')?.handles?.map(({ id }) => id)).not.toContain('out:error');
    expect(ask?.measured).toEqual({ width: ask?.width, height: ask?.height });
  });

  it('of triggers lead to what starts the flow', () => {
    const [first] = lines;
    expect([first?.source, first?.target]).toEqual(['trigger:0', 'load']);
    expect(lines.find(({ target }) => target === 'each')?.sourceHandle).toBe('out:approved');
  });
});

describe('values', () => {
  const node = graph.nodes[2] ?? ({} as never);
  const load = {
    ...{ node: 'load', state: 'done', times: 1, failed: 0, began_at: null, ended_at: null },
    ...{ seconds: 1, usd: '0', tokens: 0, size: 12, error: null, key: 'load' },
    sample: { rows: [{ Country: 'DE', 'net sum': 3 }], truncated: null },
  };
  const sources = knownValues(document, graph, node, new Map([['load', load]]));
  const names = sources.flatMap(({ values }) => values);

  it('are the inputs and what ran before, with the types of the last run', () => {
    expect(names.map(({ name, type }) => [name, type])).toEqual([
      ['inputs.month', ''],
      ['nodes.load.output', 'object'],
      ['nodes.load.output.rows', 'list of 12'],
      ['nodes.load.output.truncated', 'empty'],
      ['nodes.load.output.rows[0]', 'object'],
      ['nodes.load.output.rows[0].Country', 'text'],
      ['nodes.load.output.rows[0]["net sum"]', 'number'],
      ['nodes.ask.output', ''],
      ['run.id', 'text'],
    ]);
    const deep = partsOf('x', { a: { b: { c: { d: { e: 1 } } } } });
    expect(deep.at(-1)?.name).toBe('x.a.b.c.d');
  });

  it('are put in where the cursor is', () => {
    expect(withValue('a b', 2, 'run.id', false)).toBe('a ${run.id}b');
    expect(withValue('size()', 5, 'item', true)).toBe('size(item)');
  });

  it('are offered behind ${ and put in whole', () => {
    const text = 'Go on with ${nodes.l now';
    const offered = offeredAt(text, 'Go on with ${nodes.l'.length, names, false);
    expect(offered.values[0]?.name).toBe('nodes.load.output');
    expect(offered.insert('nodes.load.output')).toBe('Go on with ${nodes.load.output} now');
    expect(offeredAt('nodes.l', 7, names, false).values).toEqual([]);
    expect(offeredAt('size(nodes.a', 12, names, true).values.map(({ name }) => name)).toEqual([
      'nodes.ask.output',
    ]);
    const deep = offeredAt('${nodes.load.output.rows[0].C', 29, names, false);
    expect(deep.insert('nodes.load.output.rows[0].Country')).toBe(
      '${nodes.load.output.rows[0].Country}',
    );
  });

  it('take the place of a whole name, and close no expression that is closed', () => {
    const chosen = (text: string, name = 'nodes.load.output') =>
      offeredAt(text.replace('|', ''), text.indexOf('|'), names, false).insert(name);
    expect(chosen('${nodes.l| + 1}')).toBe('${nodes.load.output + 1}');
    expect(chosen('${nodes.l|oad.output}')).toBe('${nodes.load.output}');
    expect(chosen('${nodes.l|oad}, ${inputs')).toBe('${nodes.load.output}, ${inputs');
    expect(chosen('${nodes.l| and ${inputs.month}')).toBe(
      '${nodes.load.output} and ${inputs.month}',
    );
    expect(chosen("${nodes.l| + '}' ")).toBe("${nodes.load.output} + '}' ");
  });
});

describe('a deployment', () => {
  it('says whose changes go out, or are taken back', () => {
    const revisions = ['ada', 'bo', 'ada', 'eve'].map((author, index) => ({
      number: 4 - index,
      author,
    }));
    const between = (deployed: number | null, revision: number) =>
      authorsBetween({ revisions, deployed, revision });
    expect(between(1, 4)).toEqual([
      ['ada', 2],
      ['bo', 1],
    ]);
    expect(between(null, 1)).toEqual([['eve', 1]]);
    expect(between(4, 3)).toEqual([['ada', 1]]);
    expect(between(2, 2)).toEqual([]);
  });
});

describe('a flow that is opened', () => {
  const row = (count: number, down = 0) =>
    Array.from({ length: count }, (_, index) => ({
      ...{ id: `n${index}`, type: 'note' as const, data: { text: '' }, width: 200, height: 60 },
      position: { x: index * 280, y: index * down },
    }));

  const none = { left: 0, right: 0, above: 0, below: 0 };

  it('is shown as a whole where its words can be read', () => {
    expect(openingView([], 800, 600)).toEqual({ x: 0, y: 0, zoom: 1 });
    const view = openingView(row(2), 800, 600);
    expect(view.zoom).toBe(1);
    expect(view.x).toBe((800 - 480) / 2);
    expect(view.y).toBe((600 - 60) / 2);
    expect(openingView(row(3), 780, 600).zoom).toBeLessThan(1);
  });

  it('shows four steps on a screen of 1440 px, a little smaller if need be', () => {
    const four = `graph: {nodes: [${['a', 'b', 'c', 'd']
      .map((id, index, all) => {
        const needs = index === 0 ? '' : `, needs: [${all[index - 1]}]`;
        return `{id: ${id}, type: code, language: sql, code: SELECT 1${needs}}`;
      })
      .join(', ')}]}`;
    const { boxes } = drawnBoxes(graphOf(four, language), readLayout({}), [], marks);
    const { x, zoom } = openingView(boxes, 640, 600);
    expect(zoom).toBeGreaterThanOrEqual(WHOLE);
    const right = Math.max(...boxes.map(({ position, width }) => position.x + (width ?? 0)));
    expect(right * zoom + x).toBeLessThanOrEqual(640);
  });

  it('shows a trigger and four steps at 1440 px where the palette makes room, and says what does not fit', () => {
    // A trigger and four steps beside the palette, and without it.
    expect(opensCutOff(row(5), 632, 600)).toBe(true);
    expect(opensCutOff(row(5), 840, 600)).toBe(false);
    const { x, zoom } = openingView(row(5), 840, 600);
    expect(zoom).toBeGreaterThanOrEqual(WHOLE);
    expect((4 * 280 + 200) * zoom + x).toBeLessThanOrEqual(840);
    expect(hiddenBoxes(row(5), openingView(row(5), 840, 600), 840, 600)).toEqual(none);
    const view = openingView(row(9), 840, 600);
    expect(hiddenBoxes(row(9), view, 840, 600)).toEqual({ ...none, right: 5 });
    expect(hiddenBoxes(row(9), { ...view, x: -420 }, 840, 600).left).toBe(2);
    expect(hiddenBoxes(row(2), { x: 0, y: -200, zoom: 1 }, 840, 600)).toEqual({
      ...none,
      above: 2,
    });
    expect(hiddenBoxes(row(2), { x: 0, y: 590, zoom: 1 }, 840, 600)).toEqual({ ...none, below: 2 });
    expect(opensCutOff([], 840, 600)).toBe(false);
  });

  it('moves no further than to what is added', () => {
    expect(shortestWay(100, 200, 600)).toBe(0);
    expect(shortestWay(500, 200, 600)).toBe(-120);
    expect(shortestWay(-50, 200, 600)).toBe(70);
    expect(shortestWay(100, 900, 600)).toBe(-80);
  });

  it('begins with its start where it is long', () => {
    const view = openingView(row(40), 800, 600);
    expect(view).toEqual({ x: 20, y: 300 - 30 * READABLE, zoom: READABLE });
    // What comes first is at the top of a flow that goes down, and in the middle of one that goes both ways.
    expect(openingView(row(40, 200), 800, 600).y).toBe(20);
    const both = [...row(9, 200), ...row(9, -200).slice(1)];
    expect(openingView(both, 800, 600).y).toBe(300 - 30 * READABLE);
  });
});

describe('a selection', () => {
  it('says what is chosen', () => {
    expect(selectionText(['a', 'b'])).toBe('2 steps');
    expect(selectionText(['a', 'note:1'])).toBe('1 step and 1 note');
    expect(selectionText(['trigger:0', 'a', 'note:1', 'note:2', 'group:1'])).toBe(
      '1 trigger, 1 step and 2 notes',
    );
  });

  it('that is aligned covers nothing', () => {
    const { items } = place(graph, readLayout({ closed: ['each'] }));
    const [load, ask] = items;
    const chosen = items.filter((item) => item === load || item === ask);
    const left = aligned(chosen, 'left');
    expect(left.ask?.x).toBe(left.load?.x);
    expect(left.ask?.y).toBe((left.load?.y ?? 0) + (load?.size.height ?? 0) + 40);
    expect(aligned(chosen, 'top')).toEqual({
      load: load?.at,
      ask: { x: ask?.at.x, y: Math.min(load?.at.y ?? 0, ask?.at.y ?? 0) },
    });
  });
});

describe('a step', () => {
  it('is found by its title, its id, what it is and what is in its settings', () => {
    const found = (words: string) => stepsFound(graph, words).map(({ value }) => value);
    expect(found('')).toEqual(['load', 'ask', 'each', 'stop', 'each/one']);
    expect(found('select 1')).toEqual(['load']);
    expect(found('APPROVAL')).toEqual(['ask']);
    expect(found('load.output')).toEqual(['each']);
    expect(found('clean')).toEqual(['each/one']);
    expect(found('nowhere')).toEqual([]);
    const twins = graphOf(
      'graph: {nodes: [{id: a, type: code, title: Same}, {id: b, type: code, title: Same}]}',
      language,
    );
    expect(stepsFound(twins, 'same').map(({ label }) => label)).toEqual(['Same (a)', 'Same (b)']);
  });

  it('that is pinned shows it after a test, unless it failed', () => {
    const results = (state: string) => ({
      ...{ run: {}, compared_with: null, paused_before: [] },
      nodes: [{ key: 'ask', state, output: 1, before: 2, was_there: true, differs: true }],
    });
    const of = (state: string, mocks: object) =>
      stepState('ask', results(state) as never, mocks as Record<string, unknown>);
    expect(of('done', {})).toBe('differs');
    expect(of('done', { ask: 1 })).toBe('pinned');
    expect(of('failed', { ask: 1 })).toBe('failed');
  });
});

describe('a conflict', () => {
  it('says where a box is that both moved', () => {
    expect(placesText('ask', { x: 120, y: 0 }, { x: 20, y: 40 })).toBe(
      '“ask”: yours is 100 px to the right of theirs and 40 px above theirs.',
    );
    expect(placesText('ask', { x: 0, y: 9 }, { x: 0, y: 4 })).toBe(
      '“ask”: yours is 5 px below theirs.',
    );
  });
});

describe('runs on the canvas', () => {
  const standing = (more: object) => ({
    ...{ node: 'a', key: 'a', state: 'done', times: 1, failed: 0, seconds: 0.4, usd: '0.0100' },
    ...{ tokens: 0, size: null, began_at: null, ended_at: null, error: null, sample: { n: 1 } },
    ...more,
  });

  it('say what was other in the run that they are compared with', () => {
    const now = standing({});
    expect(comparedText(now, now)).toBe('0.4 s · $0.0100');
    expect(comparedText(now, standing({ seconds: 0.9, sample: { n: 2 } }))).toBe(
      '0.4 s · $0.0100, was 0.9 s · $0.0100 · other output',
    );
    expect(comparedText(now, standing({ state: 'failed' }))).toBe('0.4 s · $0.0100, was failed');
    expect(comparedText(now, undefined)).toBe('0.4 s · $0.0100 · not in the other run');
  });

  it('say where a step gave less than there was', () => {
    const cut = standing({ size: 200, sample: { rows: [], truncated: 'More than 200 rows.' } });
    expect(cutOff(cut)).toBe('More than 200 rows.');
    expect(standingText(cut)).toBe('not all rows · 0.4 s · $0.0100');
    expect(sizeText(cut)).toBe('200+');
    const whole = standing({ size: 3000, sample: { rows: [], truncated: null } });
    expect(cutOff(whole)).toBeNull();
    expect(sizeText(whole)).toBe('3,000');
  });

  it('say before they begin what they will take', () => {
    expect(expectedText({ usd: 0.0123, most_usd: 0.0123, seconds: 2 })).toBe('about 2 s · $0.0123');
    expect(expectedText({ usd: 0, most_usd: 0, seconds: 0 })).toBe('');
  });

  it('costs from the least to the most where it never ran, and never nothing where no price is known', () => {
    expect(expectedText({ usd: 0.002, most_usd: 0.03, seconds: 0 })).toBe(
      'about $0.0020 to $0.0300',
    );
    expect(expectedText({ usd: null, most_usd: null, seconds: 0 })).toBe('price not known');
    const each = { each_usd: 0.002, most_each_usd: 0.002, seconds: 0 };
    expect(expectedText({ usd: 0.08, most_usd: 0.08, times: 40, most_times: 40, ...each })).toBe(
      'about $0.0800 (40 × $0.0020)',
    );
    expect(expectedText({ usd: 0.002, most_usd: 0.01, times: 1, most_times: 5, ...each })).toBe(
      'about $0.0020 to $0.0100 (1 to 5 × $0.0020)',
    );
    expect(
      expectedText({ usd: 0.002, most_usd: 0.002, times: null, most_times: null, ...each }),
    ).toBe('about $0.0020 for each item');
    expect(expectedText({ usd: 0.002, most_usd: 0.002, times: 1, most_times: 1, ...each })).toBe(
      'about $0.0020',
    );
    const node = { node: 'ask', tokens: 9, most_tokens: 9, seconds: 0, rests_on: 'No runs yet.' };
    const known = { ...node, usd: 0.01, most_usd: 0.2, is_estimate: true };
    const whole = { runs: 0, usd: 0.01, most_usd: 0.2, unknown: [], nodes: [known] };
    expect(runPriceText(whole)).toBe(
      'A run costs about $0.0100 to $0.2000, by an estimate; the settings of each step say how.',
    );
    expect(runPriceText({ ...whole, unknown: ['tell'] })).toContain(
      'The price of tell is not known.',
    );
    const unknown = { ...node, usd: null, most_usd: null, is_estimate: true };
    expect(
      runPriceText({ runs: 0, usd: null, most_usd: null, unknown: ['ask'], nodes: [unknown] }),
    ).toBe('The price of ask is not known.');
    expect(runPriceText({ runs: 0, usd: 0, most_usd: 0, unknown: [], nodes: [] })).toBe('');
    expect(runPriceText({ runs: 2, usd: 0, most_usd: 0, unknown: [], nodes: [] })).toBe(
      'Past runs cost nothing.',
    );
  });
});

describe('keys of a journal', () => {
  it('belong to the node that they name, whichever item, round or try it is', () => {
    expect(keyBelongsTo('each[12]/one:wait', 'each/one')).toBe(true);
    expect(keyBelongsTo('both/left/one~2', 'both/one')).toBe(true);
    expect(keyBelongsTo('each[12]/one', 'each/two')).toBe(false);
    expect(isCallOf('each[12]/one', 'each')).toBe(false);
    expect(isCallOf('each[12]/one', 'each/one')).toBe(true);
  });
});

describe('the palette', () => {
  const palette = {
    nodes: [
      {
        ...{ type: 'code', description: 'SQL or Python', group: 'Code', settings: {}, exits: [] },
        ...{ graphs: [], flows: [], expressions: [], templates: [] },
        starters: [{ title: 'SQL', fields: {}, takes: null }],
      },
      {
        ...{ type: 'tool', description: 'Calls a tool', group: 'Tools', settings: {}, exits: [] },
        ...{ graphs: [], flows: [], expressions: [], templates: [] },
        starters: [{ title: 'Call a tool', fields: {}, takes: null }],
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
    agents: [{ name: 'router', title: 'Router', description: 'Hands it on.' }],
    telling: {},
    expressions: vectors.expressions,
  };
  const tool = {
    ...{ name: 'send_slack', title: 'Write to Slack', description: '', effects: ['network'] },
    ...{ risk: 'external_send' as const, arguments: {}, has_dry_run: false, undo: 'none' as const },
  };
  const entries = paletteEntries(palette, [tool]);

  it('lists starts first and tools one by one', () => {
    const titles = entries.map(({ title }) => title);
    expect(titles).toEqual(['On a schedule', 'SQL', 'Router', 'Write to Slack']);
    expect(entries[2]?.fields).toMatchObject({ agent: 'router' });
    expect(entries[2]?.takes).toBe('context');
    expect(entries[3]?.fields).toEqual({ tool: 'send_slack', arguments: {} });
  });

  it('names a step after the tool that it calls', () => {
    const names = [
      { type: 'tool', fields: { tool: 'send_slack' } },
      { type: 'tool', fields: { tool: 'gone' } },
      { type: 'code', fields: { language: 'sql' } },
      { type: 'cron' },
      { type: 'unknown' },
    ].map((node) => kindName(palette, [tool], node));
    expect(names).toEqual(['Write to Slack', 'Call a tool', 'SQL', 'On a schedule', 'unknown']);
  });

  it('finds by words', () => {
    expect(foundEntries(entries, 'slack write').map(({ id }) => id)).toEqual(['tool:send_slack']);
  });

  it('finds first what is called so', () => {
    const named = (title: string, description: string) => ({
      ...{ id: title, title, description, group: '', risk: null },
      ...{ kind: 'node' as const, type: '', fields: {} },
    });
    const all = [
      named('When a mail arrives', 'Starts it for each mail.'),
      named('Run for each', ''),
      named('For each item', ''),
    ];
    const found = foundEntries(all, 'for each').map(({ id }) => id);
    expect(found).toEqual(['For each item', 'Run for each', 'When a mail arrives']);
  });
});

describe('the branch that a step reads', () => {
  const changed = (branch: string) => ({ type: 'dataset_changed', dataset: 'sales', branch });

  it('is the one it names, or that of its run', () => {
    expect(branchRead({ branch: 'staging' }, 'main')).toBe('staging');
    expect(branchRead({ branch: '${inputs.branch}' }, 'test/1')).toBe('test/1');
    expect(branchRead({}, 'test/1')).toBe('test/1');
  });

  it('is that of the run that is shown, or of those that the triggers start', () => {
    const run = { grant: { branch: 'test/1' } } as unknown as RunDetail;
    const flow = { triggers: [changed('staging')] };
    expect(branchOf(run, flow)).toBe('test/1');
    expect(branchOf(undefined, flow)).toBe('staging');
    expect(branchOf(undefined, { triggers: [changed('staging'), { type: 'manual' }] })).toBe(
      'main',
    );
    expect(branchOf(undefined, {})).toBe('main');
  });
});

describe('the count on a line', () => {
  const standing = (node: string, times: number, size: number | null = null) =>
    [node, { node, times, size, sample: null } as unknown as NodeStanding] as const;
  const nodes = [
    { id: 'each', type: 'map' },
    { id: 'both', type: 'parallel' },
  ];
  const progress = {
    ...{ done: 1, total: 2, nodes: {} },
    parts: { each: { done: 12, total: 3000 }, both: { done: 2, total: 2 } },
  };

  it('says after a list how many items it has, and while it runs how many are done', () => {
    const parts = itemsDone(progress, nodes);
    expect(Object.keys(parts)).toEqual(['each']);
    const run = { standings: new Map(), parts };
    expect(lineText('', run, 'each', 'next')).toBe('12 of 3,000');
    const done = { standings: new Map(), parts: { each: { done: 3000, total: 3000 } } };
    expect(lineText('', done, 'each', 'next')).toBe('3,000');
    expect(lineText('', { ...done, parts: { each: { done: 0, total: 0 } } }, 'each', 'next')).toBe(
      '0',
    );
  });

  it('says on each way out how often it was taken', () => {
    const standings = new Map([standing('each/ask', 12), standing('each/tell', 9)]);
    const run = { standings };
    expect(lineText('approved', run, 'each/ask', 'each/tell')).toBe('approved · 9×');
    expect(lineText('some', run, 'each/choose', 'each/tell')).toBe('some · 9×');
    expect(lineText('error', run, 'each/ask', 'each/tell')).toBe('error · 9×');
    expect(lineText('', run, 'each/ask', 'each/tell')).toBe('12×');
    expect(lineText('else', run, 'each/choose', 'each/gone')).toBe('else');
  });

  it('says how many rows a step gave', () => {
    const run = { standings: new Map([standing('look', 1, 40)]) };
    expect(lineText('', run, 'look', 'next')).toBe('40');
    expect(lineText('approved', run, 'look', 'next')).toBe('approved · 40');
    expect(lineText('error', run, 'look', 'next')).toBe('error');
  });
});
