/** The name of an operation in words, as in lists of what happened. */
import { t } from '@lingui/core/macro';

const NAMES: Record<string, string> = {
  ingest: t`Loaded`,
  undo: t`Undone`,
  redo: t`Redone`,
  restore: t`Restored`,
  merge: t`Merged`,
};

export function operationName(operation: string): string {
  const known = NAMES[operation];
  if (known !== undefined) return known;
  const words = operation.replaceAll(/[._-]/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The code of an error as a title: `sql-refused` is "SQL refused". */
export function codeText(code: string): string {
  return operationName(code).replaceAll(/\b(?:api|http|mcp|sql|url)\b/gi, (word) =>
    word.toUpperCase(),
  );
}
