import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { describe, expect, it, vi } from 'vitest';
import { argumentsOf, fieldsOf, initialValues, missingFields } from '@/components/schema-form';
import { SchemaForm } from '@/components/SchemaForm';
import { renderAlone } from '../harness';

const schema = {
  properties: {
    columns: {
      anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'null' }],
      default: null,
      description: 'Text columns; all of them when left out.',
    },
    column: { type: 'string' },
    style: { type: 'string', enum: ['lower', 'upper'], default: 'lower' },
    keep: { type: 'boolean', default: false },
    threshold: { type: 'number', default: 0.88, minimum: 0.5, maximum: 1 },
    markers: { type: 'array', items: { type: 'string' }, default: [] },
    names: { type: 'object', additionalProperties: { type: 'string' } },
    on: { type: 'array', items: { type: 'array', prefixItems: [{}, {}] } },
    country_column: { anyOf: [{ type: 'string' }, { type: 'null' }], default: null },
    separator: { type: 'string', default: ' ' },
    certificate: { type: 'string', default: '', format: 'multiline' },
  },
  required: ['column', 'names'],
};
const fields = fieldsOf(schema);

describe('a form from a schema', () => {
  it('knows what each field is', () => {
    expect(Object.fromEntries(fields.map(({ name, kind }) => [name, kind]))).toEqual({
      columns: 'columns',
      column: 'column',
      style: 'choice',
      keep: 'switch',
      threshold: 'number',
      markers: 'texts',
      names: 'map',
      on: 'pairs',
      country_column: 'column',
      separator: 'text',
      certificate: 'lines',
    });
  });

  it('calls fields by their titles, as one short plain line', () => {
    const labels = (properties: Record<string, unknown>) =>
      fieldsOf({ properties }).map(({ label }) => label);
    expect(
      labels({
        steward_pages: { type: 'integer', title: 'Pages at most' },
        order_by: { type: 'string', title: 'Order By' },
        two_digit_years: { type: 'string' },
        odd: { type: 'string', title: 7 },
        choice: { title: 'Which one', anyOf: [{ type: 'string', title: 'Inner' }] },
      }),
    ).toEqual(['Pages at most', 'Order by', 'Two digit years', 'Odd', 'Which one']);
    const [long] = labels({ a: { title: `<b>x</b>\n\u202e${'y'.repeat(500)}` } });
    expect(long).toHaveLength(60);
    expect(long?.startsWith('<b>x</b> yyy')).toBe(true);
    // Two with one title could not be told apart.
    expect(labels({ to: { title: 'Address' }, cc: { title: 'Address' } })).toEqual(['To', 'Cc']);
  });

  it('shows a title as text, whatever it holds', () => {
    const titled = fieldsOf({ properties: { a: { type: 'string', title: '<img src=x>' } } });
    renderAlone(
      <SchemaForm fields={titled} columns={[]} values={initialValues(titled)} onChange={vi.fn()} />,
    );
    expect(screen.getByLabelText('<img src=x>')).toBeInTheDocument();
    expect(document.querySelector('img')).toBeNull();
  });

  it('starts with the defaults and with what is given', () => {
    const values = initialValues(fields, { column: 'city', columns: 'city', elsewhere: 1 });
    expect(values).toMatchObject({ style: 'lower', column: 'city', columns: ['city'] });
    expect(values).not.toHaveProperty('elsewhere');
  });

  it('sends what was filled in and leaves the rest to the operation', () => {
    const values = initialValues(fields, { column: 'city' });
    expect(argumentsOf(fields, values)).toEqual({
      column: 'city',
      style: 'lower',
      keep: false,
      threshold: 0.88,
      separator: ' ',
    });
    const filled = {
      ...values,
      names: [['a', 'b'] as [string, string], ['', 'c'] as [string, string]],
    };
    expect(argumentsOf(fields, filled)).toMatchObject({ names: { a: 'b' } });
    expect(argumentsOf(fields, { ...values, on: [['id', 'ref']] })).toMatchObject({
      on: [['id', 'ref']],
    });
  });

  it('says which fields are still needed', () => {
    expect(missingFields(fields, initialValues(fields))).toEqual(['column', 'names']);
  });

  it('keeps a text that was emptied on purpose', () => {
    const values = { ...initialValues(fields), separator: '' };
    expect(argumentsOf(fields, values)).toMatchObject({ separator: '' });
  });

  it('offers the columns of the dataset', async () => {
    function Form() {
      const [values, setValues] = useState(() => initialValues(fields));
      return (
        <>
          <SchemaForm
            fields={fields}
            values={values}
            columns={['city', 'street']}
            onChange={setValues}
          />
          <output>{JSON.stringify(argumentsOf(fields, values))}</output>
        </>
      );
    }
    renderAlone(<Form />);
    await userEvent.click(screen.getByRole('combobox', { name: /^Column( \*)?$/ }));
    await userEvent.click(await screen.findByRole('option', { name: 'street' }));
    await userEvent.click(screen.getByRole('switch', { name: 'Keep' }));
    await userEvent.click(screen.getByRole('textbox', { name: 'Certificate' }));
    await userEvent.paste('-----BEGIN\nMIIB\n-----END');
    const sent = JSON.parse(screen.getByRole('status').textContent) as unknown;
    expect(sent).toMatchObject({
      column: 'street',
      keep: true,
      certificate: '-----BEGIN\nMIIB\n-----END',
    });
  });
});
