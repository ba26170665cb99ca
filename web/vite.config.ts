/** Build and test configuration: the built app lands inside the Python package that serves it. */
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';
import { words } from './scripts/words.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const server = process.env.STEWARD_URL ?? 'http://127.0.0.1:8400';

export default defineConfig({
  plugins: [words(), react()],
  resolve: { alias: { '@': here('./src') } },
  build: {
    outDir: here('../src/steward/api/web'),
    emptyOutDir: true,
    manifest: true,
    target: 'baseline-widely-available',
    // Everything is its own file: a strict content security policy refuses data: scripts and fonts.
    assetsInlineLimit: 0,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            // Changes rarely, so an upgrade of Steward leaves it in the browser's cache.
            { name: 'react', test: /node_modules\/(react|react-dom|scheduler)\// },
            // What most pages show travels as one file instead of twenty small ones. A file of src/api is named here when the first page needs it.
            {
              name: 'page',
              test: /src\/components\/(Page|Section|DataTable|EmptyState|ErrorState|Moment|format|undo|toasts)|src\/api\/(client|datasets|errors|events|inbox|lists|live|members|notifications|projects|roles|session|stream|types)\./,
            },
            // The rest of the shell: without this, each module that a page shares with it would be a small file of its own.
            { name: 'shell', tags: ['$initial'], test: /^(?!.*(index\.html|src\/main\.tsx))/ },
          ],
        },
      },
    },
  },
  server: { port: 5173, proxy: { '/api': { target: server, ws: true }, '/docs': server } },
  test: {
    environment: 'jsdom',
    setupFiles: ['./tests/setup.ts'],
    include: ['tests/**/*.test.{ts,tsx}'],
    // One jsdom per worker instead of one per file: three times as fast. tests/setup.ts cleans up.
    isolate: false,
    testTimeout: 90_000,
    restoreMocks: true,
    unstubGlobals: true,
  },
});
