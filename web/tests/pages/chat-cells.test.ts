import { describe, expect, it } from 'vitest';
import { createFormats } from '@/components/format';
import { tableOf } from '@/components/value-table';
import { writtenTable } from '@/pages/chat/cells';

function written(locale: string, columns: [string, string][], ...rows: unknown[][]) {
  const table = tableOf({ columns: columns.map(([name, type]) => ({ name, type })), rows });
  if (table === null) throw new Error('no table');
  return writtenTable(table, createFormats(locale, 'Europe/Berlin')).rows;
}

describe('cells of a result', () => {
  it('are numbers as the reader writes them, alike in a column', () => {
    const columns: [string, string][] = [
      ['total', 'DECIMAL(38,2)'],
      ['invoices', 'BIGINT'],
    ];
    expect(written('de-DE', columns, ['1234567.5', 12_345], ['9', 7])).toEqual([
      ['1.234.567,50', '12.345'],
      ['9,00', '7'],
    ]);
    expect(written('en-GB', columns, ['12345678901234567890.12', 1])[0]?.[0]).toBe(
      '12,345,678,901,234,567,890.12',
    );
  });

  it('stay as they are where they count nothing', () => {
    const columns: [string, string][] = [
      ['customer_id', 'BIGINT'],
      ['year', 'INTEGER'],
      ['phone', 'VARCHAR'],
      ['unknown', ''],
    ];
    const row = [100_234, 2025, '00123', '1234.5'];
    expect(written('en-GB', columns, row)).toEqual([['100234', '2025', '00123', '1234.5']]);
  });

  it('are days, periods and moments without a shift between zones', () => {
    const columns: [string, string][] = [
      ['due', 'DATE'],
      ['month', 'TIMESTAMP'],
      ['quarter', 'DATE'],
      ['seen', 'TIMESTAMP'],
      ['sent', 'TIMESTAMP WITH TIME ZONE'],
    ];
    const row = [
      '2025-03-31',
      '2025-03-01T00:00:00',
      '2025-04-01',
      '2025-03-31T23:30:00',
      '2025-01-31T23:30:00+00:00',
    ];
    expect(written('en-GB', columns, row)).toEqual([
      ['31 Mar 2025', 'March 2025', 'Q2 2025', '31 Mar 2025, 23:30', '1 Feb 2025, 00:30'],
    ]);
  });

  it('keep what is missing, shares and tiny numbers', () => {
    const columns: [string, string][] = [
      ['share', 'DOUBLE'],
      ['rate', 'DOUBLE'],
      ['name', 'VARCHAR'],
    ];
    expect(written('en-GB', columns, [0.256, 0.00012, null])).toEqual([['25.6%', '0.00012', null]]);
  });
});
