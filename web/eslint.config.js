/** Lint rules: type-aware TypeScript, the rules of hooks, and accessibility. */
import js from '@eslint/js';
import jsxA11y from 'eslint-plugin-jsx-a11y';
import lingui from 'eslint-plugin-lingui';
import reactHooks from 'eslint-plugin-react-hooks';
import globals from 'globals';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['node_modules', 'coverage', 'src/api/schema.d.ts'] },
  js.configs.recommended,
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true }],
      // A type parameter used once is how the query cache's contents are named.
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
      '@typescript-eslint/no-confusing-void-expression': 'off',
      '@typescript-eslint/consistent-type-imports': 'error',
      // The router's redirect() and notFound() are thrown by design.
      '@typescript-eslint/only-throw-error': 'off',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: false }],
    },
  },
  {
    files: ['src/**/*.{ts,tsx}', 'tests/**/*.{ts,tsx}'],
    extends: [reactHooks.configs.flat.recommended, jsxA11y.flatConfigs.strict],
    languageOptions: { globals: globals.browser },
  },
  {
    // Every text that people read is a message: README.md says how to write one.
    files: ['src/**/*.{ts,tsx}'],
    // They hold words of SQL, YAML and style sheets, names of browsers and languages, and flows that Steward writes for people.
    ignores: [
      'src/app/theme.ts',
      'src/flows/guide.ts',
      'src/pages/chat/cells.ts',
      'src/pages/console/completion.ts',
      'src/pages/profile/{browser-name,locales}.ts',
      'src/pages/skills/skeleton.ts',
    ],
    plugins: { lingui },
    rules: {
      'lingui/no-unlocalized-strings': [
        'error',
        {
          useTsTypes: true,
          ignore: [
            '^[^A-Z ]+$', // one word in small letters: a key, mostly
            '^[A-Z_]+$',
            '^DECIMAL',
            '^(Steward|ApiError)$',
            '^\\w+(-\\w+)+$', // names of headers and style classes
            '^[A-Za-z]?[a-z]+([A-Z][a-z]+)+$', // names in code
            '^(Delete|Backspace|Meta|Control|ETag|Files|not over time|TIMESTAMP WITH TIME ZONE)$', // what the browser or the server says
            'T\\d\\d:\\d\\d:\\d\\dZ$',
            '\\d(rem|em)\\b',
            '^[^A-Za-z]*(s[^A-Za-z]*)?(Steward[^A-Za-z]*)?$',
            'sans-serif$',
            '^main, section',
            '^format: 1\\n',
            '^curl ',
            '^[\\w.-]*/',
            'var\\(|calc\\(|minmax\\(',
            'contenteditable=',
          ],
          ignoreNames: [
            {
              regex: {
                pattern:
                  '^(className|style|variant|color|size|key|id|item|type|path|to|href|rel|role|d|transform|viewBox|scope|scopes|value|queryKey|icon)$',
              },
            },
            'MODIFIER',
            'WHOLE', // values of a choice
            'EACH',
            'selectionKeyCode',
            'SKILL_FILE',
          ],
          ignoreFunctions: [
            'Error',
            'projectPath',
            'projectKey',
            'usePathParam',
            'useHotkeys',
            'focusIn',
            'requestAnimationFrame',
            '*.addEventListener',
            '*.querySelector',
            '*.closest',
          ],
        },
      ],
    },
  },
  { files: ['scripts/**', '*.js'], languageOptions: { globals: globals.node } },
  { files: ['public/**'], languageOptions: { globals: globals.browser, sourceType: 'script' } },
);
