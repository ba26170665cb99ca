/** Runs after the build: writes .br and .gz beside the files and reports what the first page costs. */
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const OUTPUT = fileURLToPath(new URL('../../src/steward/api/web', import.meta.url));
const COMPRESSIBLE = /\.(js|css|html|svg|json|txt)$/;
const SMALLEST = 1024;
const BUDGET_KB = 195;
/** What a signed-in person loads to see the first page: the shell and the home page. */
const FIRST_PAGE = ['index.html', 'src/pages/home/HomePage.tsx'];

async function compressAll() {
  const entries = await readdir(OUTPUT, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    if (!entry.isFile() || !COMPRESSIBLE.test(entry.name)) continue;
    const path = join(entry.parentPath, entry.name);
    const content = await readFile(path);
    if (content.length < SMALLEST) continue;
    await writeFile(`${path}.gz`, gzipSync(content, { level: 9 }));
    const quality = { [constants.BROTLI_PARAM_QUALITY]: 11 };
    await writeFile(`${path}.br`, brotliCompressSync(content, { params: quality }));
  }
}

/** Every script and style sheet that the given entries import statically. */
function filesOf(manifest, entries) {
  const files = new Set();
  const seen = new Set();
  const visit = (key) => {
    if (seen.has(key)) return;
    seen.add(key);
    const chunk = manifest[key];
    if (!chunk) throw new Error(`The build manifest has no ${key}: update FIRST_PAGE.`);
    files.add(chunk.file);
    for (const sheet of chunk.css ?? []) files.add(sheet);
    for (const imported of chunk.imports ?? []) visit(imported);
  };
  entries.forEach(visit);
  return [...files];
}

async function firstPageKilobytes(manifest) {
  let bytes = 0;
  for (const file of filesOf(manifest, FIRST_PAGE)) {
    bytes += gzipSync(await readFile(join(OUTPUT, file)), { level: 9 }).length;
  }
  return bytes / 1000;
}

const manifestPath = join(OUTPUT, '.vite', 'manifest.json');
const manifest = JSON.parse(await readFile(manifestPath, 'utf8'));
const kilobytes = await firstPageKilobytes(manifest);
console.log(`First page: ${kilobytes.toFixed(1)} kB gzip of JS and CSS (budget ${BUDGET_KB}).`);

if (process.argv.includes('--check-budget')) {
  process.exitCode = kilobytes > BUDGET_KB ? 1 : 0;
} else {
  await compressAll();
}
