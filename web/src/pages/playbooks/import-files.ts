/** Files that are to be imported, read as text, and what came of them in words. */
import { t } from '@lingui/core/macro';
import { type GivenFile, type ImportedFile, unpackPlaybooks } from '@/api/playbooks';

const isYaml = (name: string) => /\.ya?ml$/i.test(name);
const isZip = (name: string) => /\.zip$/i.test(name);

const DRAWING = /\.layout\.json$/i;

/**
 * The playbooks of the files, those of zips included, each with the drawing that was chosen with it; a file of another kind
 * is named.
 */
export async function readFiles(projectId: string, chosen: File[]): Promise<GivenFile[]> {
  const files = chosen.filter(({ name }) => !DRAWING.test(name));
  const drawings = new Map(
    await Promise.all(
      chosen
        .filter(({ name }) => DRAWING.test(name))
        .map(async (file) => [file.name.replace(DRAWING, ''), await drawingOf(file)] as const),
    ),
  );
  const other = files.find(({ name }) => !isYaml(name) && !isZip(name));
  if (other) throw new Error(t`${other.name} is neither a YAML file nor a zip of them.`);
  const read = await Promise.all(
    files.map(async (file) =>
      isZip(file.name)
        ? unpackPlaybooks(projectId, file)
        : [
            {
              name: file.name,
              yaml: await file.text(),
              layout: drawings.get(file.name.replace(/\.ya?ml$/i, '')) ?? null,
            },
          ],
    ),
  );
  return read.flat();
}

async function drawingOf(file: File): Promise<Record<string, unknown>> {
  try {
    const { layout } = JSON.parse(await file.text()) as { layout?: unknown };
    if (typeof layout === 'object' && layout !== null) return layout as Record<string, unknown>;
  } catch {
    // Told below.
  }
  throw new Error(t`${file.name} is not a drawing that “Export all” wrote.`);
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
  return told.length === 0 ? t`Nothing was new` : t`Imported: ${told.join(', ')}`;
}
