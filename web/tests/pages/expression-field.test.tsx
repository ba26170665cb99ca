/** A setting with expressions: what is wrong shows while somebody types, at its place, and is part of the field's description. */
import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { describe, expect, it } from 'vitest';
import type { NodeStanding } from '@/api/runs';
import { graphOf } from '@/flows/edits';
import { nodesWithin } from '@/flows/graph';
import { expressionCheck } from '@/pages/flows/expression-scope';
import { functionNames } from '@/pages/flows/known-values';
import { marksOf, offsetOf } from '@/pages/flows/CodeText';
import { ValueText } from '@/pages/flows/ValueText';
import { readYaml } from '@/flows/document';
import vectors from '../flows/vectors.json';
import { renderAlone } from '../harness';

const language = {
  types: new Map(vectors.types.map((type) => [type.type, type])),
  telling: vectors.telling,
  expressions: vectors.expressions,
};
const TEXT = `inputs: {type: object, properties: {limit: {type: integer}}}
graph:
  nodes:
  - {id: load, type: code, language: sql, code: SELECT 1}
  - {id: show, type: output, needs: [load], value: x}
  - {id: later, type: output, needs: [show], value: x}
`;
const graph = graphOf(TEXT, language);
const node = nodesWithin(graph).find(({ id }) => id === 'show');
if (!node) throw new Error('The flow has no such node.');
const standings = new Map([
  ['load', { sample: { rows: [{ name: 'a', n: 1 }] }, size: 1 } as unknown as NodeStanding],
]);
const check = expressionCheck(readYaml(TEXT).value, graph, node, standings, language);

function Field({ start = '' }: { start?: string }) {
  const [value, setValue] = useState(start);
  return (
    <ValueText
      label="Value"
      value={value}
      values={functionNames(language.expressions)}
      check={(text, isBare) => check(text, isBare, true)}
      error={undefined}
      readOnly={false}
      onChange={setValue}
    />
  );
}

const field = () => screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Value' });

describe('the check', () => {
  it('knows declared types, the steps before, and the last run', () => {
    expect(check("${inputs.limit + 'a'}", false, true)).toMatchObject({
      reason: 'number and text do not go together here',
      at: 2,
      isWarning: false,
    });
    expect(check('${nodes.later.output}', false, true).reason).toContain('cannot have run before');
    expect(check('${nodes.none.output}', false, true).reason).toBe("there is no node 'none'");
    expect(check('${nodes.load.output.rows[0].name * 2}', false, true)).toMatchObject({
      reason: 'text and number do not go together here',
      isWarning: true,
    });
    expect(check('${nodes.load.output.rows.map(r, r.n)}', false, true).type).toBe('list');
    expect(check('${inputs.limit}', false, { type: 'string' }).reason).toBe(
      'must be text; the expression gives number',
    );
    expect(check('n: ${inputs.limit}', false, { type: 'string' }).reason).toBeNull();
  });
});

describe('the field', () => {
  it('says what is wrong while somebody types, and where', async () => {
    renderAlone(<Field />);
    await userEvent.type(field(), 'Up to ${{inputs.limit + }');
    await screen.findByText(/It ends too early/);
    expect(field()).toHaveAccessibleDescription(/It ends too early\. Character 24/);
    expect(field()).toBeInvalid();
    await userEvent.click(screen.getByRole('button', { name: /^Character 24/ }));
    expect(field().selectionStart).toBe(23);
    await userEvent.clear(field());
    await userEvent.type(field(), '${{inputs.limit + 1}');
    await screen.findByText('Gives number.');
    expect(field()).toBeValid();
    expect(screen.getByRole('status')).toHaveTextContent('Gives number.');
  });

  it('warns by the values of the last run, which is no error', async () => {
    renderAlone(<Field start="${nodes.load.output.rows + 1}" />);
    await screen.findByText(/With the values of the last run: list and number/);
    expect(field()).toBeValid();
  });

  it('offers functions inside an expression', async () => {
    renderAlone(<Field />);
    await userEvent.type(field(), '${{1 + si');
    await userEvent.click(await screen.findByRole('option', { name: /^size\(\)/ }));
    await waitFor(() => expect(field()).toHaveValue('${1 + size()'));
  });
});

describe('code', () => {
  const code = 'SELECT name,\n  ägе😀, years\nFROM people';

  it('has a place for each line and column', () => {
    expect(offsetOf(code, 1, 8)).toBe(code.indexOf('name'));
    expect(offsetOf(code, 2, 9)).toBe(code.indexOf('years'));
    expect(offsetOf(code, 3, 1)).toBe(code.indexOf('FROM'));
    expect(offsetOf(code, 9, 9)).toBe(code.length);
  });

  it('say on which branch a table is missing, and what is checked only at the run', () => {
    const problem = { message: 'There is no dataset.', line: 1, column: 1, is_warning: true };
    const told = (branch: string | null, note = '') =>
      marksOf('SELECT 1', { data: { problems: [problem], branch, note }, error: null }).map(
        ({ message }) => message,
      );
    expect(told('main')).toEqual(['There is no dataset.']);
    expect(told('main/try-out')).toEqual(['There is no dataset. (branch main/try-out)']);
    expect(told(null, 'Checked at the run.')).toEqual([
      'There is no dataset.',
      'Checked at the run.',
    ]);
  });

  it('shows what is wrong at the field, and leads there', async () => {
    const at = offsetOf(code, 2, 9);
    const marks = [
      { message: 'Column "years" not found', place: 'Line 2, column 9', at, isWarning: false },
      {
        message: 'There is no dataset "people"',
        place: 'Line 3, column 6',
        at: 0,
        isWarning: true,
      },
    ];
    renderAlone(
      <ValueText
        {...{ label: 'Code', value: code, values: [], error: undefined, marks, readOnly: false }}
        onChange={() => undefined}
      />,
    );
    const box = screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Code' });
    expect(box).toHaveAccessibleDescription(/Column "years" not found/);
    expect(box).toHaveAttribute('aria-invalid', 'true');
    expect(screen.getByText(/There is no dataset/)).toBeVisible();
    await userEvent.click(screen.getByRole('button', { name: /^Line 2, column 9: .*years$/ }));
    expect(box).toHaveFocus();
    expect(box.selectionStart).toBe(code.indexOf('years'));
  });
});
