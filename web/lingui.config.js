/** Languages of the web app: English stands in the code, the others in src/locales. */
import { defineConfig } from '@lingui/conf';
import { formatter } from '@lingui/format-po';

export default defineConfig({
  sourceLocale: 'en',
  locales: ['de', 'fr'],
  fallbackLocales: false,
  catalogs: [{ path: '<rootDir>/src/locales/{locale}', include: ['<rootDir>/src'] }],
  format: formatter({ lineNumbers: false }),
  orderBy: 'origin',
  runtimeConfigModule: { i18n: ['@/language', 'i18n'], Trans: ['@/language', 'Trans'] },
});
