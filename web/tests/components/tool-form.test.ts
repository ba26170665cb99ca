import { describe, expect, it } from 'vitest';
import { asForm, toolArguments, toolFieldsOf, toolValues } from '@/components/tool-form';

const clean = {
  type: 'object',
  properties: {
    dataset: { type: 'string', maxLength: 200 },
    operation: { type: 'string', enum: ['trim', 'case'] },
    arguments: { type: 'object', additionalProperties: true },
    on: { type: 'array', items: { $ref: '#/$defs/KeyPair' } },
    text: { type: 'string', maxLength: 20_000 },
    headers: { type: 'object', additionalProperties: { type: 'string' } },
    target: { anyOf: [{ type: 'string' }, { type: 'null' }], default: null },
    columns: { type: 'array', items: { type: 'string' } },
  },
  required: ['dataset', 'operation'],
};

const drawn = (hasColumns = true) =>
  Object.fromEntries(
    toolFieldsOf(clean, hasColumns).map((item) => [item.field.name, [item.drawn, item.field.kind]]),
  );

describe('the form of a tool', () => {
  it('draws each argument as fits it, and as JSON what no field fits', () => {
    expect(drawn()).toMatchObject({
      dataset: ['dataset', 'text'],
      operation: ['plain', 'choice'],
      arguments: ['json', 'map'],
      on: ['json', 'texts'],
      text: ['long', 'text'],
      headers: ['plain', 'map'],
      target: ['plain', 'text'],
      columns: ['plain', 'columns'],
    });
  });

  it('offers datasets for what the schema says names them, whatever it is called', () => {
    const schema = {
      type: 'object',
      properties: {
        sources: { type: 'array', items: { type: 'string', format: 'dataset' } },
        ledger: { type: 'string', format: 'dataset' },
        certificate: { type: 'string', format: 'multiline', maxLength: 100_000 },
        words: { type: 'array', items: { type: 'string' } },
      },
    };
    expect(
      toolFieldsOf(schema, false).map(({ field, drawn: as }) => [field.name, as, field.kind]),
    ).toEqual([
      ['sources', 'datasets', 'texts'],
      ['ledger', 'dataset', 'text'],
      ['certificate', 'plain', 'lines'],
      ['words', 'plain', 'texts'],
    ]);
  });

  it('lets names of columns be typed where no columns are known', () => {
    expect(drawn(false)).toMatchObject({ columns: ['plain', 'texts'] });
  });

  it('sends what was filled in and leaves defaults to the tool', () => {
    const fields = toolFieldsOf(clean, true);
    const values = {
      ...toolValues(fields),
      dataset: 'customers',
      operation: 'trim',
      arguments: '{"columns": ["city"]}',
    };
    expect(toolArguments(fields, values)).toEqual({
      problems: null,
      arguments: { dataset: 'customers', operation: 'trim', arguments: { columns: ['city'] } },
    });
  });

  it('says what is missing and what is no JSON, by field', () => {
    const fields = toolFieldsOf(clean, true);
    const { problems } = toolArguments(fields, { ...toolValues(fields), arguments: '{"a":' });
    expect(problems).toMatchObject({
      dataset: 'This is needed.',
      operation: 'This is needed.',
      arguments: expect.stringContaining('not JSON yet') as string,
    });
  });

  it('comes back as it was when nothing is edited', () => {
    const fields = toolFieldsOf(clean, true);
    const given = {
      dataset: 'customers',
      operation: 'case',
      arguments: { columns: ['email'], to: 'lower' },
      on: [{ left: 'a', right: 'b' }],
      text: 'two\nlines',
      headers: { Accept: 'text/csv' },
      columns: ['email'],
    };
    expect(toolArguments(fields, toolValues(fields, given))).toEqual({
      problems: null,
      arguments: given,
    });
  });

  it('asks for a plain answer as the only field of a form', () => {
    expect(asForm({ type: 'string' })).toMatchObject({
      isWrapped: true,
      schema: { properties: { answer: { type: 'string' } }, required: ['answer'] },
    });
    expect(asForm(clean)).toEqual({ schema: clean, isWrapped: false });
  });
});
