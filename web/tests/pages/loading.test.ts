import { describe, expect, it } from 'vitest';
import { datasetsByFile } from '@/api/files';
import { typeChoices, typeName } from '@/components/column-types';
import { withAlternative, withColumnType, withSetting } from '@/pages/datasets/corrections';
import { datasetName } from '@/pages/datasets/dataset-name';
import { drawn, stepsOf } from '@/pages/lineage/lineage';
import { asRequest, isComplete, withKind } from '@/pages/dataset/charts/chart-request';

describe('a file on its way to a dataset', () => {
  it('proposes its own name', () => {
    expect(datasetName('Customers 2026.csv')).toBe('Customers 2026');
    expect(datasetName('orders.csv.gz')).toBe('orders');
    expect(datasetName('a/b\\c.csv')).toBe('a_b_c');
    expect(datasetName('.csv')).toBe('data');
  });

  it('keeps corrections of columns until the file is split differently', () => {
    const typed = withColumnType({}, 'id', 'VARCHAR');
    expect(withSetting(typed, 'encoding', 'cp437').columns).toHaveProperty('id');
    expect(withSetting(typed, 'delimiter', ';')).toEqual({ delimiter: ';', columns: {} });
  });

  it('takes another reading without losing corrections of other columns', () => {
    const typed = withColumnType({ encoding: 'cp437' }, 'id', 'VARCHAR');
    const chosen = withAlternative(typed, { columns: { day: { format: '%m/%d/%Y' } } });
    expect(Object.keys(chosen.columns ?? {})).toEqual(['id', 'day']);
    expect(chosen.encoding).toBe('cp437');
    const split = withAlternative(typed, { header_row: 3, header_rows: 2 });
    expect(split).toMatchObject({ header_row: 3, header_rows: 2, columns: {} });
  });

  it('calls types by words', () => {
    const words = [
      'VARCHAR',
      'BIGINT',
      'DECIMAL(18,2)',
      'TIMESTAMP WITH TIME ZONE',
      'STRUCT(a INT)',
    ];
    expect(words.map(typeName)).toEqual([
      'text',
      'whole number',
      'decimal',
      'date and time',
      'struct(a int)',
    ]);
    expect(typeChoices('HUGEINT')[0]?.value).toBe('HUGEINT');
    const labels = typeChoices('BIGINT').map(({ label }) => label);
    expect(labels).toContain('decimal, 2 places');
    expect(new Set(labels).size).toBe(labels.length);
    expect(labels.join(' ')).not.toMatch(/VARCHAR|BIGINT/);
  });
});

const lineage = {
  nodes: [
    { id: 'file:originals/a.csv', kind: 'file', label: 'originals/a.csv', commit: null },
    { id: 'step:1', kind: 'operation', label: 'ingest', commit: '1' },
    { id: 'dataset:a', kind: 'dataset', label: 'a', commit: '1' },
    { id: 'step:2', kind: 'operation', label: 'trim', commit: '2', columns: [] },
  ] as const,
  edges: [
    { from: 'file:originals/a.csv', to: 'step:1' },
    { from: 'step:1', to: 'dataset:a' },
    { from: 'dataset:a', to: 'step:2' },
    { from: 'step:2', to: 'dataset:a' },
  ],
};
const mutable = structuredClone(lineage) as unknown as Parameters<typeof drawn>[0];

describe('lineage', () => {
  it('leads from a file to its datasets', () => {
    expect(datasetsByFile(mutable)).toEqual(new Map([['originals/a.csv', ['a']]]));
  });

  it('draws a dataset that was changed in place twice, so that no line runs backwards', () => {
    const { nodes, edges } = drawn(mutable);
    const added = nodes.filter(({ id }) => id.endsWith(' before'));
    expect(added).toEqual([expect.objectContaining({ id: 'dataset:a before', label: 'a' })]);
    expect(edges).toContainEqual(
      expect.objectContaining({ from: 'dataset:a before', to: 'step:2' }),
    );
  });

  it('reads as steps', () => {
    const steps = stepsOf(mutable).map(({ operation, inputs, output }) => [
      inputs.map(({ label }) => label),
      operation,
      output.label,
    ]);
    expect(steps).toEqual([
      [['originals/a.csv'], 'Loaded', 'a'],
      [['a'], 'Trim', 'a'],
    ]);
  });
});

describe('a chart', () => {
  it('keeps its columns where the new kind has the field', () => {
    const bar = { kind: 'bar', x: 'city', y: 'amount', colour: 'segment' };
    expect(asRequest(withKind(bar, 'pie'))).toEqual({ kind: 'pie', x: 'city', y: 'amount' });
  });

  it('is drawn once it has what it needs', () => {
    expect(isComplete({ kind: 'scatter', x: 'a' })).toBe(false);
    expect(isComplete({ kind: 'scatter', x: 'a', y: 'b' })).toBe(true);
  });
});
