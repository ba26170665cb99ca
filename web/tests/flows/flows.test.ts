/** The document model of the canvas: it draws what the server runs, and its edits keep the rest of the text. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readYaml, removeValue, setValue, valueAt } from '@/flows/document';
import {
  addNode,
  connect,
  copyNodes,
  disconnect,
  freeId,
  graphOf,
  moveNode,
  pasteNodes,
  removeNodes,
  renameNode,
  setField,
} from '@/flows/edits';
import {
  edgesOf,
  graphsWithin,
  type Language,
  nodeAtPointer,
  nodesBefore,
  nodesWithin,
} from '@/flows/graph';
import { type Layout, readLayout } from '@/flows/layout';
import { addNote, changeNote, groupNodes, removeNotes, ungroup } from '@/flows/layout-edits';
import { moveOnto, record, redo, startHistory, undo } from '@/flows/history';
import {
  type Drawing,
  isSameDrawing,
  mergeDrawings,
  mergeFlows,
  mergeLayouts,
  movedByBoth,
} from '@/flows/merge';
import vectors from './vectors.json';

const language: Language = {
  types: new Map(vectors.types.map((type) => [type.type, type])),
  telling: vectors.telling,
  expressions: vectors.expressions,
};

const drawn = (text: string) => {
  const graph = graphOf(text, language);
  const nodes = Object.fromEntries(nodesWithin(graph).map(({ key, type }) => [key, type]));
  const edges = graphsWithin(graph)
    .flatMap(edgesOf)
    .map(({ before, after, port }) => `${before}.${port}>${after}`);
  return { nodes, edges: edges.sort() };
};

const STEPS = `format: 1 # the first
id: small
# What it may use.
budget: {usd: 1}
steps:
- id: load # reads
  tool: query
  arguments: {sql: SELECT 1}

# Looks at every row.
- id: each
  type: map
  over: nodes.load.output.rows
  body:
    nodes:
    - id: show
      type: output
      value: \${item}
- id: ask
  message: Go on with \${nodes.load.output.rows}?
output:
  rows: \${nodes.load.output.rows}
`;

describe('what is drawn', () => {
  it.each(vectors.flows)(
    'is the graph that the server compiles: $name',
    ({ text, nodes, edges }) => {
      const wanted = edges.map(({ before, after, port }) => `${before}.${port}>${after}`).sort();
      expect(drawn(text)).toEqual({ nodes, edges: wanted });
    },
  );

  it('finds the node of a problem, and what ran before a node', () => {
    const graph = graphOf(STEPS, language);
    expect(nodeAtPointer(graph, '/steps/1/body/nodes/0/value')?.key).toBe('each/show');
    expect(nodeAtPointer(graph, '/steps/1/over')?.key).toBe('each');
    expect(nodeAtPointer(graph, '/output/rows')?.key).toBe('result');
    expect(nodeAtPointer(graph, '/budget')).toBeNull();
    expect(nodesBefore(graph, 'each/show').map(({ id }) => id)).toEqual(['load']);
    expect(nodesBefore(graph, 'ask').map(({ id }) => id)).toEqual(['each', 'load']);
  });
});

describe('an edit', () => {
  it('changes its own lines alone', () => {
    const made = setField(STEPS, language, 'load', ['arguments', 'sql'], 'SELECT 2');
    expect(made).toBe(STEPS.replace(' {sql: SELECT 1}', '\n    sql: SELECT 2'));
    const titled = setField(STEPS, language, 'ask', ['title'], 'Ask');
    expect(titled).toBe(STEPS.replace('rows}?\n', 'rows}?\n  title: Ask\n'));
    expect(setField(titled, language, 'ask', ['title'], undefined)).toBe(STEPS);
  });

  it('connects the result of steps by writing it down, and takes that back with it', () => {
    const made = connect(STEPS, language, { before: 'load', after: 'result', port: '' });
    expect(drawn(made).edges).toEqual(
      ['ask.>result', 'each.>ask', 'load.>each', 'load.>result'].sort(),
    );
    expect(made).toContain('id: result\n  type: output\n');
    expect(made).not.toContain('\noutput:');
    const apart = disconnect(made, language, { before: 'ask', after: 'result', port: '' });
    expect(drawn(apart).edges).toEqual(['each.>ask', 'load.>each', 'load.>result']);
    // Without the step, the last one gives the result again.
    expect(drawn(removeNodes(made, language, ['result'])).edges).toContain('ask.>result');
    const loose = disconnect(STEPS, language, { before: 'ask', after: 'result', port: '' });
    expect(drawn(loose).edges).toEqual(['each.>ask', 'load.>each']);
  });

  it('renames a node in edges and expressions', () => {
    const made = renameNode(STEPS, language, 'load', 'fetch');
    expect(made).toBe(
      STEPS.replace('id: load', 'id: fetch').replaceAll('nodes.load', 'nodes.fetch'),
    );
  });

  it('renames a node in objects of expressions and in the output of a join', () => {
    const text = (id: string) => `format: 1
id: joined
graph:
  nodes:
    - id: ${id}
      type: code
      language: sql
      code: SELECT 1
    - id: both
      type: join
      needs:
      - ${id}
    - id: told
      type: output
      needs: [both]
      value: "\${string({'a': {}}) + string(nodes.${id}.state)} \${nodes.both.output.${id}} output.${id}"
`;
    const made = renameNode(text('load'), language, 'load', 'fetch');
    expect(made).toBe(text('fetch').replace(' output.fetch"', ' output.load"'));
  });

  it('keeps the order of steps that say nothing about it', () => {
    const removed = removeNodes(STEPS, language, ['each']);
    expect(removed).not.toContain('Looks at every row');
    expect(removed).toContain('# What it may use.');
    expect(drawn(removed).edges).toEqual(['ask.>result', 'load.>ask']);
    const added = addNode(STEPS, language, {
      ...{ graph: ['steps'], id: 'send', type: 'tool', fields: { tool: 'send_slack' } },
      needs: ['ask.approved'],
    });
    expect(drawn(added).edges).toContain('ask.approved>send');
    expect(added.startsWith(STEPS.split('output:')[0] ?? '')).toBe(true);
  });

  it('connects by ports, jumps after errors, and takes both back', () => {
    const jump = { before: 'load', after: 'ask', port: 'error' };
    const joined = connect(STEPS, language, jump);
    expect(drawn(joined).edges).toContain('load.error>ask');
    expect(disconnect(joined, language, jump)).toBe(STEPS);
    const extra = connect(STEPS, language, { before: 'load', after: 'ask', port: '' });
    expect(drawn(extra).edges).toEqual(expect.arrayContaining(['load.>ask', 'each.>ask']));
    expect(disconnect(extra, language, { before: 'load', after: 'ask', port: '' })).toBe(STEPS);
  });

  it('moves nodes into graphs, and copies them', () => {
    const body = ['steps', 1, 'body', 'nodes'];
    const moved = moveNode(STEPS, language, 'ask', body);
    expect(drawn(moved).nodes['each/ask']).toBe('approval');
    const twin = addNode(STEPS, language, {
      ...{ graph: body, id: 'ask', type: 'approval', fields: { message: 'And now?' }, needs: [] },
    });
    expect(Object.keys(drawn(moveNode(twin, language, 'ask', body)).nodes)).toEqual(
      expect.arrayContaining(['each/ask', 'each/ask_2']),
    );
    const copies = copyNodes(STEPS, language, ['each', 'ask']);
    const { text, ids } = pasteNodes(STEPS, language, ['steps'], copies);
    expect(ids).toEqual(['each_2', 'ask_2']);
    expect(drawn(text).edges).toContain('each_2.>ask_2');
  });

  it('starts from nothing', () => {
    const empty = 'format: 1\nid: x\nbudget: {usd: 1}\ngraph:\n  nodes: []\n';
    const one = addNode(empty, language, {
      ...{
        graph: ['graph', 'nodes'],
        id: 'a',
        type: 'code',
        fields: { language: 'sql' },
        needs: [],
      },
    });
    expect(one).toBe(
      empty.replace('nodes: []', 'nodes:\n  - id: a\n    type: code\n    language: sql'),
    );
    expect(drawn(removeNodes(one, language, ['a'])).nodes).toEqual({});
  });
});

type Edit = (text: string) => string;

/** Any edit that people can make, by numbers that choose among what is there. */
const edits = fc
  .tuple(fc.integer({ min: 0, max: 8 }), fc.nat(), fc.nat(), fc.string({ maxLength: 12 }))
  .map(([kind, one, two, words]): Edit => (text) => {
    const graph = graphOf(text, language);
    const all = nodesWithin(graph).filter(({ isImplied }) => !isImplied);
    const graphs = graphsWithin(graph);
    const inside = graphs[one % graphs.length] ?? graph;
    const key = all[one % Math.max(all.length, 1)]?.key ?? '';
    const peers = graphs.find(({ nodes }) => nodes.some((node) => node.key === key))?.nodes ?? [];
    const other = peers[two % Math.max(peers.length, 1)]?.key ?? '';
    const id = freeId(text, language, words);
    const edge = { before: other, after: key, port: two % 3 === 0 ? 'error' : '' };
    switch (kind) {
      case 0:
        return addNode(text, language, {
          ...{ graph: inside.path, id, type: two % 2 ? 'map' : 'tool', needs: [] },
          fields: two % 2 ? { over: 'inputs.x', body: { nodes: [] } } : { tool: words },
        });
      case 1:
        return removeNodes(text, language, [key]);
      case 2:
        return connect(text, language, edge);
      case 3:
        return disconnect(text, language, edge);
      case 4:
        return renameNode(text, language, key, id);
      case 5:
        return setField(text, language, key, ['title'], words);
      case 6:
        return setField(
          text,
          language,
          key,
          ['arguments', 'a b'],
          two % 2 ? [words, two] : `${words}\n${words}`,
        );
      case 7:
        return moveNode(text, language, key, inside.path);
      default:
        return pasteNodes(text, language, inside.path, copyNodes(text, language, [key])).text;
    }
  });

const typed = fc.string({ maxLength: 8 }).map(
  (words): Edit =>
    (text) =>
      `${text}# ${words.replaceAll(/[^\w ]/g, '')}\n`,
);
const texts = fc.constantFrom(STEPS, ...vectors.flows.map(({ text }) => text));

describe('random edits', () => {
  it('in graph and text, undone and redone, give the same bytes', () => {
    fc.assert(
      fc.property(
        texts,
        fc.array(fc.oneof(edits, edits, typed), { maxLength: 8 }),
        (start, gestures) => {
          let history = startHistory(start);
          for (const gesture of gestures) history = record(history, gesture(history.now));
          const end = history.now;
          gestures.forEach(() => {
            history = undo(history);
          });
          expect(history.now).toBe(start);
          gestures.forEach(() => {
            history = redo(history);
          });
          expect(history.now).toBe(end);
        },
      ),
      { numRuns: 25, seed: 14 },
    );
  });

  it('leave a document with every comment, and ids that are there once', () => {
    const comments = (text: string) => text.match(/# (What it may use|the first)/g);
    fc.assert(
      fc.property(fc.array(edits, { maxLength: 6 }), (gestures) => {
        let text = STEPS;
        for (const gesture of gestures) {
          const before = drawn(text);
          const next = gesture(text);
          expect(readYaml(next).problem).toBeNull();
          expect(comments(next)).toEqual(comments(STEPS));
          const keys = nodesWithin(graphOf(next, language)).map(({ key }) => key);
          expect(new Set(keys).size).toBe(keys.length);
          if (next === text) expect(drawn(next)).toEqual(before);
          text = next;
        }
      }),
      { numRuns: 40, seed: 14 },
    );
  });

  it('of single values give back what was set', () => {
    const values = fc.jsonValue({ maxDepth: 2 });
    const paths = fc.constantFrom(
      ['id'],
      ['budget', 'usd'],
      ['steps', 0, 'tool'],
      ['steps', 1],
      ['new'],
      ['steps', 2, 'form', 'deep'],
    );
    fc.assert(
      fc.property(paths, values, (path, value) => {
        const made = setValue(STEPS, path, value);
        expect(JSON.stringify(valueAt(readYaml(made).value, path))).toBe(JSON.stringify(value));
        const removed = readYaml(removeValue(made, path)).value;
        const isItem = path.length === 2 && path[0] === 'steps';
        expect(valueAt(removed, path)).toEqual(
          isItem ? valueAt(readYaml(STEPS).value, ['steps', 2]) : undefined,
        );
      }),
      { numRuns: 60, seed: 14 },
    );
  });
});

describe('two people', () => {
  it('who change different nodes both keep their changes', () => {
    const mine = setField(
      removeNodes(STEPS, language, ['each']),
      language,
      'ask',
      ['title'],
      'Mine',
    );
    const theirs = setValue(
      setField(STEPS, language, 'load', ['title'], 'Theirs'),
      ['goal'],
      'Both',
    );
    const { text, clashes } = mergeFlows(STEPS, mine, theirs, language);
    expect(clashes).toEqual([]);
    expect(drawn(text)).toEqual(drawn(mine));
    expect(text).toContain('title: Mine');
    expect(text).toContain('title: Theirs');
    expect(text).toContain('goal: Both');
    expect(text).toContain('# What it may use.');
  });

  it('who move different boxes and write notes both keep theirs', () => {
    const base = readLayout({ places: { load: { x: 0, y: 0 }, ask: { x: 1, y: 1 } } });
    const mine = {
      ...base,
      places: { ...base.places, load: { x: 9, y: 9 } },
      notes: [{ id: '1', text: 'Mine', at: { x: 0, y: 0 } }],
    };
    const theirs = {
      ...base,
      places: { ask: { x: 7, y: 7 } },
      closed: ['each'],
      notes: [{ id: '1', text: 'Theirs', at: { x: 0, y: 0 } }],
    };
    const merged = mergeLayouts(base, mine, theirs);
    expect(merged.places).toEqual({ load: { x: 9, y: 9 }, ask: { x: 7, y: 7 } });
    expect(merged.closed).toEqual(['each']);
    expect(merged.notes.map(({ text }) => text)).toEqual(['Theirs', 'Mine']);
    expect(new Set(merged.notes.map(({ id }) => id)).size).toBe(2);
  });

  it('who move the same box are told which one', () => {
    const layout = (x: number, other = 0): Layout => ({
      ...{ closed: [], notes: [], groups: [] },
      places: { load: { x, y: 0 }, ask: { x: other, y: 0 } },
    });
    expect(movedByBoth(layout(0), layout(1), layout(2))).toEqual(['load']);
    expect(movedByBoth(layout(0), layout(1), layout(1))).toEqual([]);
    expect(movedByBoth(layout(0), layout(1), layout(0, 5))).toEqual([]);
  });

  it('undo their own gestures after a merge, and never what the other did', () => {
    const empty = readLayout({});
    const base: Drawing = { text: STEPS, layout: empty };
    const titled = (text: string, key: string, title: string) =>
      setField(text, language, key, ['title'], title);
    const mine = { text: titled(STEPS, 'ask', 'Mine'), layout: empty };
    const theirs = { text: titled(STEPS, 'load', 'Theirs'), layout: empty };
    const merged = mergeDrawings(base, mine, theirs, language).drawing;
    const history = moveOnto(
      record(startHistory(base), mine),
      merged,
      (before) => mergeDrawings(base, before, theirs, language).drawing,
    );
    expect(history.now.text).toContain('Mine');
    const undone = undo(history);
    expect(undone.now.text).toBe(theirs.text);
    expect(redo(undone).now).toEqual(merged);
  });

  it('who change the same node see both sides', () => {
    const mine = setField(STEPS, language, 'ask', ['title'], 'Mine');
    const theirs = setField(STEPS, language, 'ask', ['title'], 'Theirs');
    const { text, clashes } = mergeFlows(STEPS, mine, theirs, language);
    expect(text).toBe(theirs);
    expect(clashes.map(({ what }) => what)).toEqual(['ask']);
  });

  it('lose nothing when one of them, or both alike, made random edits', () => {
    fc.assert(
      fc.property(fc.array(edits, { maxLength: 4 }), (gestures) => {
        const changed = gestures.reduce((text, gesture) => gesture(text), STEPS);
        const same = mergeFlows(STEPS, STEPS, changed, language);
        expect(same).toEqual({ text: changed, clashes: [] });
        const twice = mergeFlows(STEPS, changed, changed, language);
        expect(twice).toEqual({ text: changed, clashes: [] });
      }),
      { numRuns: 25, seed: 14 },
    );
  });
});

/** What a node says, without the graphs inside it; the same that merging compares. */
const saidBy = (text: string) =>
  new Map(
    nodesWithin(graphOf(text, language))
      .filter(({ isImplied }) => !isImplied)
      .map((node) => {
        const inner = new Set(node.graphs.map(({ path }) => String(path[node.path.length])));
        const own = Object.entries(node.fields).filter(
          ([name]) => !inner.has(name) && !['needs', 'type'].includes(name),
        );
        return [node.key, JSON.stringify([node.type, Object.fromEntries(own)])];
      }),
  );

type DrawnEdit = (drawing: Drawing) => Drawing;

/** Any change to where things are drawn, and to notes and groups. */
const layoutEdits = fc
  .tuple(fc.integer({ min: 0, max: 6 }), fc.nat(), fc.nat({ max: 999 }), fc.string())
  .map(([kind, one, two, words]): DrawnEdit => ({ text, layout }) => {
    const keys = nodesWithin(graphOf(text, language)).map(({ key }) => key);
    const key = keys[one % Math.max(keys.length, 1)] ?? '';
    const note = layout.notes[one % Math.max(layout.notes.length, 1)]?.id ?? '';
    const group = layout.groups[one % Math.max(layout.groups.length, 1)]?.id ?? '';
    const at = { x: two, y: one % 1000 };
    const isClosed = layout.closed.includes(key);
    const changed = [
      () => ({ ...layout, places: { ...layout.places, [key]: at } }),
      () => addNote(layout, at).layout,
      () => changeNote(layout, note, words),
      () => removeNotes(layout, [note]),
      () => groupNodes(layout, [key]).layout,
      () => ungroup(layout, group),
      () => ({
        ...layout,
        closed: isClosed ? layout.closed.filter((each) => each !== key) : [...layout.closed, key],
      }),
    ][kind];
    return { text, layout: changed?.() ?? layout };
  });

const drawnEdits = fc
  .oneof({ arbitrary: edits, weight: 6 }, { arbitrary: typed, weight: 1 })
  .map((edit): DrawnEdit => ({ text, layout }) => ({ text: edit(text), layout }));

describe('a thousand edits by two people at once', () => {
  it('lose nothing without saying so, and both end with the same drawing', () => {
    const turn = fc.record({
      isFirst: fc.boolean(),
      edit: fc.oneof({ arbitrary: drawnEdits, weight: 3 }, { arbitrary: layoutEdits, weight: 2 }),
      then: fc.constantFrom('save', 'look', 'go on', 'go on'),
    });
    const turns = fc.array(turn, { minLength: 25, maxLength: 25 });
    let edited = 0;
    fc.assert(
      fc.property(turns, (sequence) => {
        const start: Drawing = { text: STEPS, layout: readLayout({}) };
        let server = start;
        const people = [0, 1].map(() => ({ base: start, mine: start }));
        type Person = (typeof people)[number];
        /** As the canvas does it: what is somebody else's is shown where nothing of one's own is at stake. */
        const look = (person: Person) => {
          if (!isSameDrawing(person.base, person.mine)) return;
          person.base = server;
          person.mine = server;
        };
        const save = (person: Person) => {
          const { base, mine } = person;
          const { drawing, clashes } = isSameDrawing(base, server)
            ? { drawing: mine, clashes: [] }
            : mergeDrawings(base, mine, server, language);
          expectNothingLost(base.text, mine.text, server.text, { text: drawing.text, clashes });
          expectNothingMovedBack(base.layout, mine.layout, server.layout, drawing.layout);
          server = drawing;
          person.base = drawing;
          person.mine = drawing;
        };
        for (const { isFirst, edit, then } of sequence) {
          const person = people[isFirst ? 0 : 1];
          if (!person) continue;
          person.mine = edit(person.mine);
          edited += 1;
          if (then === 'save') save(person);
          if (then === 'look') look(person);
        }
        people.forEach(save);
        people.forEach(look);
        expect(readYaml(server.text).problem).toBeNull();
        expect(people.map(({ mine }) => mine)).toEqual([server, server]);
        const keys = nodesWithin(graphOf(server.text, language)).map(({ key }) => key);
        expect(new Set(keys).size).toBe(keys.length);
      }),
      { numRuns: 40, seed: 14, endOnFailure: true },
    );
    expect(edited).toBe(1000);
  }, 120_000);

  it('who write comments in the text are told when merging cannot keep them', () => {
    const mine = STEPS.replace('- id: ask', '# Only on Mondays.\n- id: ask');
    const theirs = setField(STEPS, language, 'load', ['title'], 'Theirs');
    const { text, clashes } = mergeFlows(STEPS, mine, theirs, language);
    expect(text).toBe(theirs);
    expect(clashes).toEqual([{ what: 'comments', mine: ['# Only on Mondays.'], theirs: [] }]);
    expect(mergeFlows(STEPS, mine, mine, language).clashes).toEqual([]);
  });

  it('one of whom writes what is no YAML yet lose no step', () => {
    const theirs = setField(STEPS, language, 'load', ['title'], 'Theirs');
    const { text, clashes } = mergeFlows(STEPS, `${STEPS}\n  - "`, theirs, language);
    expect(text).toBe(theirs);
    expect(clashes.map(({ what }) => what)).toEqual(['the text']);
  });

  it('one of whom connects a step to one that the other removed are told which', () => {
    const mine = connect(STEPS, language, { before: 'each', after: 'ask', port: 'error' });
    const extra = addNode(mine, language, {
      ...{ graph: ['steps'], id: 'send', type: 'tool', fields: { tool: 'send_slack' } },
      needs: ['each', 'load'],
    });
    const theirs = removeNodes(STEPS, language, ['each']);
    const { text, clashes } = mergeFlows(STEPS, extra, theirs, language);
    const told = clashes.filter(({ gone }) => gone);
    expect(told.map(({ what, gone }) => [what, gone])).toEqual([['send', ['each']]]);
    expect(drawn(text).edges).toContain('load.>send');
  });
});

/** Every box is where somebody moved it, and every note and frame that somebody wrote is there. */
function expectNothingMovedBack(base: Layout, mine: Layout, theirs: Layout, now: Layout) {
  const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
  for (const key of Object.keys({ ...mine.places, ...theirs.places })) {
    const isMine = mine.places[key] && !same(mine.places[key], base.places[key]);
    expect(now.places[key], `the place of ${key}`).toEqual(
      (isMine ? mine : theirs).places[key] ?? base.places[key],
    );
  }
  const words = (items: readonly { id: string }[]) =>
    items.map(({ id: _id, ...said }) => JSON.stringify(said));
  for (const side of [mine, theirs]) {
    for (const [own, old, all] of [
      [side.notes, base.notes, now.notes],
      [side.groups, base.groups, now.groups],
    ] as const) {
      const changed = own.filter((item) => !old.some((each) => same(each, item)));
      expect(words(all)).toEqual(expect.arrayContaining(words(changed)));
    }
  }
  const wanted = new Set([...mine.closed, ...theirs.closed]);
  for (const key of base.closed) {
    if (!mine.closed.includes(key) || !theirs.closed.includes(key)) wanted.delete(key);
  }
  expect(new Set(now.closed)).toEqual(wanted);
}

function expectNothingLost(
  base: string,
  mine: string,
  theirs: string,
  { text, clashes }: { text: string; clashes: { what: string }[] },
) {
  const [was, own, other, now] = [base, mine, theirs, text].map(saidBy);
  const told = new Set(clashes.map(({ what }) => what));
  const isTold = (key: string) =>
    [...told].some((what) => key === what || key.startsWith(`${what}/`));
  for (const key of new Set([was, own, other].flatMap((each) => [...(each?.keys() ?? [])]))) {
    const [old, mineOf, theirsOf] = [was?.get(key), own?.get(key), other?.get(key)];
    const wanted = mineOf === old ? theirsOf : theirsOf === old ? mineOf : undefined;
    if (mineOf !== theirsOf && mineOf !== old && theirsOf !== old) {
      expect(isTold(key), `both changed ${key}, and nobody is told`).toBe(true);
    } else if (!isTold(key)) {
      expect(now?.get(key), `what was said of ${key}`).toBe(mineOf === theirsOf ? mineOf : wanted);
    }
  }
  expectNoEdgeLost(base, mine, theirs, text, isTold);
  const typedBy = (one: string) => one.split('\n').filter((line) => line.startsWith('# '));
  for (const comment of typedBy(mine)) {
    if (!typedBy(base).includes(comment) && !told.has('comments'))
      expect(typedBy(text), 'a comment that was typed').toContain(comment);
  }
}

/** What each node needs, by keys of nodes. */
const needsIn = (text: string) =>
  new Map(
    graphsWithin(graphOf(text, language)).flatMap((graph) =>
      graph.nodes
        .filter(({ isImplied }) => !isImplied)
        .map((node): [string, Set<string>] => [node.key, new Set(node.needs)]),
    ),
  );

/** An edge that one of two people drew is there, and one that they took away is not, where both its ends are. */
function expectNoEdgeLost(
  base: string,
  mine: string,
  theirs: string,
  text: string,
  isTold: (key: string) => boolean,
) {
  const [was, now] = [needsIn(base), needsIn(text)];
  const idsNow = new Set(nodesWithin(graphOf(text, language)).map(({ key }) => key));
  for (const side of [needsIn(mine), needsIn(theirs)]) {
    for (const [key, needs] of side) {
      const found = now.get(key);
      if (found === undefined || isTold(key)) continue;
      const around = key.includes('/') ? key.slice(0, key.lastIndexOf('/') + 1) : '';
      const before = was.get(key) ?? new Set<string>();
      for (const need of needs) {
        const source = `${around}${need.split('.')[0]}`;
        if (!before.has(need) && idsNow.has(source) && !isTold(source))
          expect([...found], `${key} after ${need}`).toContain(need);
      }
      for (const need of before) {
        if (!needs.has(need))
          expect([...found], `${key} no more after ${need}`).not.toContain(need);
      }
      for (const need of found) {
        const source = `${around}${need.split('.')[0]}`;
        expect(idsNow, `what ${key} comes after`).toContain(source);
      }
    }
  }
}
