/** Files that are to be imported, read as text, and what came of them in words. */
import type { GivenFile, ImportedFile } from '@/api/playbooks';

export const isYaml = (name: string) => /\.ya?ml$/i.test(name);

export function readFiles(files: File[]): Promise<GivenFile[]> {
  return Promise.all(files.map(async (file) => ({ name: file.name, yaml: await file.text() })));
}

/** `2 new, 1 changed`; what stayed as it was is said only where nothing else is. */
export function filesTold(files: Pick<ImportedFile, 'change'>[]): string {
  const count = (wanted: ImportedFile['change']) =>
    files.filter(({ change }) => change === wanted).length;
  const parts = [
    [count('created'), 'new'],
    [count('changed'), 'changed'],
  ] as const;
  const told = parts.filter(([number]) => number > 0).map(([number, word]) => `${number} ${word}`);
  return told.length === 0 ? 'Nothing was new' : `Imported: ${told.join(', ')}`;
}
