/** Corrections of what was detected in a file, as options of the next look at it. */
import { isMoment } from '@/components/column-types';
import type { LoadOptions } from './use-file-load';

/** Sets the type of a column; its other options stay where they still make sense. */
export function withColumnType(options: LoadOptions, column: string, type: string): LoadOptions {
  const before = options.columns?.[column];
  const format = isMoment(type) ? (before?.format ?? null) : null;
  return {
    ...options,
    columns: { ...options.columns, [column]: { ...before, type, format } },
  };
}

export function withColumnFormat(
  options: LoadOptions,
  column: string,
  type: string,
  format: string,
): LoadOptions {
  const changed = { ...options.columns?.[column], type, format: format === '' ? null : format };
  return { ...options, columns: { ...options.columns, [column]: changed } };
}

/** Takes another reading that was offered; what it does not speak of stays as it is. */
export function withAlternative(options: LoadOptions, chosen: LoadOptions): LoadOptions {
  const { columns, ...rest } = chosen;
  const splits = Object.keys(rest).length > 0;
  const before = splits ? {} : (options.columns ?? {});
  const merged = Object.entries(columns ?? {}).map(
    ([name, wish]) => [name, { ...before[name], ...wish }] as const,
  );
  return { ...options, ...rest, columns: { ...before, ...Object.fromEntries(merged) } };
}

type Setting = 'encoding' | 'delimiter' | 'header_row' | 'header_rows' | 'table';

/** Another way to split the file makes other columns, so what was said about them is dropped. */
export function withSetting(
  options: LoadOptions,
  setting: Setting,
  value: string | number | null,
): LoadOptions {
  const keepsColumns = setting === 'encoding';
  return { ...options, [setting]: value, columns: keepsColumns ? (options.columns ?? {}) : {} };
}
