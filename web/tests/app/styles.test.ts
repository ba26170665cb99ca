/** Every Mantine component in use has its style sheet loaded; without it the component is quietly broken. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const MANTINE = resolve('node_modules/@mantine/core');
const IMPORT = /import\s*(?:type\s*)?\{([^}]*)\}\s*from '@mantine\/core'/g;
const MODULE = /from "(\.[^"]+)"/g;

function namesInUse(): Set<string> {
  const names = globSync('src/**/*.{ts,tsx}').flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(IMPORT)].flatMap(([, list = '']) =>
      list
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== '' && !name.startsWith('type ')),
    ),
  );
  return new Set(names);
}

/** The sheets that a module of Mantine and everything it imports refer to. */
function sheetsOf(module: string, seen = new Set<string>()): Set<string> {
  const sheets = new Set<string>();
  if (seen.has(module) || !existsSync(module)) return sheets;
  seen.add(module);
  if (module.endsWith('.module.mjs')) {
    const sheet = basename(module, '.module.mjs');
    if (existsSync(join(MANTINE, 'styles', `${sheet}.css`))) sheets.add(sheet);
    return sheets;
  }
  for (const [, path = ''] of readFileSync(module, 'utf8').matchAll(MODULE)) {
    sheetsOf(join(dirname(module), path), seen).forEach((sheet) => sheets.add(sheet));
  }
  return sheets;
}

const SHEET = /@mantine\/core\/styles\/(\w[\w-]*)\.css/g;
/** Sheets that belong to no component. */
const FOUNDATION = new Set(['baseline', 'default-css-variables', 'global']);

describe('style sheets', () => {
  const source = readFileSync('src/app/styles.ts', 'utf8');
  const loaded = [...source.matchAll(SHEET)].map(([, sheet = '']) => sheet);
  const needed = new Set(
    [...namesInUse()].flatMap((name) => [
      ...sheetsOf(join(MANTINE, 'esm/components', name, `${name}.mjs`)),
    ]),
  );

  it('are loaded for every Mantine component in use', () => {
    expect(needed.size, 'no component found: has Mantine moved its files?').toBeGreaterThan(20);
    const missing = [...needed].filter((sheet) => !loaded.includes(sheet));
    expect(missing, 'add these to src/app/styles.ts').toEqual([]);
  });

  it('are not loaded for nothing', () => {
    const idle = loaded.filter((sheet) => !needed.has(sheet) && !FOUNDATION.has(sheet));
    expect(idle, 'take these out of src/app/styles.ts').toEqual([]);
  });
});
