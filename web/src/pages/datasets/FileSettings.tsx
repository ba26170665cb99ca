/** How the file is read: sheet, encoding, delimiter and header, each with what it was found from. */
import { t } from '@lingui/core/macro';
import { NumberInput, Select, SimpleGrid } from '@mantine/core';
import type { Inspection } from '@/api/uploads';
import { withSetting } from './corrections';
import type { LoadOptions } from './use-file-load';

const DELIMITERS = [
  { value: ',', label: t`Comma ,` },
  { value: ';', label: t`Semicolon ;` },
  { value: '\t', label: t`Tab` },
  { value: '|', label: t`Pipe |` },
  { value: ' ', label: t`Space` },
  { value: ':', label: t`Colon :` },
  { value: '~', label: t`Tilde ~` },
  { value: '^', label: t`Caret ^` },
  { value: '%', label: t`Percent %` },
  { value: '#', label: t`Hash #` },
  { value: '||', label: t`Two pipes ||` },
  { value: '::', label: t`Two colons ::` },
];
const ENCODINGS = [
  'utf-8',
  'windows-1252',
  'iso-8859-1',
  'iso-8859-15',
  'utf-16',
  'cp437',
  'shift_jis',
];

interface Props {
  inspection: Inspection;
  options: LoadOptions;
  disabled: boolean;
  onCorrect: (options: LoadOptions) => void;
}

export function FileSettings({ inspection, options, disabled, onCorrect }: Props) {
  const { tables, table, encoding, dialect, header } = inspection;
  const set = (...change: [Parameters<typeof withSetting>[1], string | number | null]) =>
    onCorrect(withSetting(options, ...change));
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="sm">
      {tables.length > 1 && (
        <Select
          label={t`Sheet or table`}
          data={tables.map(({ name }) => name)}
          value={table}
          allowDeselect={false}
          disabled={disabled}
          onChange={(value) => set('table', value)}
        />
      )}
      {encoding && (
        <Select
          label={t`Encoding`}
          description={encoding.reason}
          data={withCurrent(
            ENCODINGS.map((value) => ({ value, label: value })),
            encoding.name,
          )}
          value={encoding.name}
          allowDeselect={false}
          disabled={disabled}
          onChange={(value) => set('encoding', value)}
        />
      )}
      {dialect && (
        <Select
          label={t`Delimiter`}
          description={dialect.reason}
          data={withCurrent(DELIMITERS, dialect.delimiter)}
          value={dialect.delimiter}
          allowDeselect={false}
          disabled={disabled}
          onChange={(value) => set('delimiter', value)}
        />
      )}
      {header && (
        <NumberInput
          label={t`Header in line (0: none)`}
          description={header.reason}
          min={0}
          max={1000}
          // Sent when it is finished, not at every digit.
          key={header.row ?? 0}
          defaultValue={header.row ?? 0}
          disabled={disabled}
          onBlur={(event) => {
            const row = Number(event.currentTarget.value);
            if (row !== (header.row ?? 0)) set('header_row', row);
          }}
        />
      )}
      {header?.row != null && (
        <NumberInput
          label={t`Rows of names`}
          description={t`Their texts are joined to one name a column.`}
          min={1}
          max={20}
          key={`rows ${header.rows}`}
          defaultValue={header.rows}
          disabled={disabled}
          onBlur={(event) => {
            const rows = Number(event.currentTarget.value);
            if (rows !== header.rows) {
              onCorrect({ ...withSetting(options, 'header_row', header.row), header_rows: rows });
            }
          }}
        />
      )}
    </SimpleGrid>
  );
}

function withCurrent(choices: { value: string; label: string }[], current: string) {
  if (choices.some(({ value }) => value === current)) return choices;
  return [...choices, { value: current, label: current }];
}
