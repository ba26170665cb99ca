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
import { readLayout } from '@/flows/layout';
import { record, redo, startHistory, undo } from '@/flows/history';
import { mergeFlows, mergeLayouts } from '@/flows/merge';
import vectors from './vectors.json';

const language: Language = {
  types: new Map(vectors.types.map((type) => [type.type, type])),
  telling: vectors.telling,
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

  it('renames a node in edges and expressions', () => {
    const made = renameNode(STEPS, language, 'load', 'fetch');
    expect(made).toBe(
      STEPS.replace('id: load', 'id: fetch').replaceAll('nodes.load', 'nodes.fetch'),
    );
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

describe('a thousand edits by two people at once', () => {
  it('lose nothing without saying so, and both end with the same text', () => {
    const turns = fc.array(fc.tuple(fc.boolean(), edits, fc.boolean()), {
      minLength: 25,
      maxLength: 25,
    });
    let edited = 0;
    fc.assert(
      fc.property(turns, (sequence) => {
        const server = { text: STEPS };
        const people = [0, 1].map(() => ({ base: STEPS, mine: STEPS }));
        const save = (person: { base: string; mine: string }) => {
          const { base, mine } = person;
          const theirs = server.text;
          const merged =
            theirs === base
              ? { text: mine, clashes: [] }
              : mergeFlows(base, mine, theirs, language);
          expectNothingLost(base, mine, theirs, merged);
          server.text = merged.text;
          person.base = merged.text;
          person.mine = merged.text;
        };
        for (const [isFirst, edit, isSaved] of sequence) {
          const person = people[isFirst ? 0 : 1];
          if (!person) continue;
          person.mine = edit(person.mine);
          edited += 1;
          if (isSaved) save(person);
        }
        people.forEach(save);
        people.forEach(save);
        expect(readYaml(server.text).problem).toBeNull();
        expect(people.map(({ mine }) => mine)).toEqual([server.text, server.text]);
        const keys = nodesWithin(graphOf(server.text, language)).map(({ key }) => key);
        expect(new Set(keys).size).toBe(keys.length);
      }),
      { numRuns: 40, seed: 14, endOnFailure: true },
    );
    expect(edited).toBe(1000);
  });
});

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
}
