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
