/** The language of the app, as the browser says or as chosen; kept in this browser. */
import { t } from '@lingui/core/macro';
import { SegmentedControl } from '@mantine/core';
import { chooseLanguage, chosenLanguage, LANGUAGES } from '@/language/choice';

const AS_BROWSER = 'browser';

export function Language() {
  return (
    <SegmentedControl
      fullWidth
      aria-label={t`Language`}
      data={[
        { value: AS_BROWSER, label: t`As in this browser` },
        ...LANGUAGES.map((language) => ({ value: language, label: ownName(language) })),
      ]}
      value={chosenLanguage() ?? AS_BROWSER}
      onChange={(choice) => chooseLanguage(choice === AS_BROWSER ? null : choice)}
    />
  );
}

/** As its speakers write it, so that they find it whatever the language of the page. */
function ownName(language: string): string {
  const name = new Intl.DisplayNames(language, { type: 'language' }).of(language) ?? language;
  return name.charAt(0).toLocaleUpperCase(language) + name.slice(1);
}
