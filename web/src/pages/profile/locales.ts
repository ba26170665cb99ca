/** Locales to choose from, each named in its own language. */

const OFFERED = [
  'cs-CZ',
  'da-DK',
  'de-AT',
  'de-CH',
  'de-DE',
  'en-AU',
  'en-CA',
  'en-GB',
  'en-IE',
  'en-IN',
  'en-US',
  'es-ES',
  'es-MX',
  'fi-FI',
  'fr-CA',
  'fr-FR',
  'it-IT',
  'ja-JP',
  'ko-KR',
  'nb-NO',
  'nl-NL',
  'pl-PL',
  'pt-BR',
  'pt-PT',
  'sv-SE',
  'tr-TR',
  'uk-UA',
  'zh-CN',
];

function nameOf(locale: string): string {
  const names = new Intl.DisplayNames([locale], { type: 'language', languageDisplay: 'standard' });
  return names.of(locale) ?? locale;
}

/** The offered locales, and the chosen one in case it is none of them. */
export function localeChoices(chosen: string | null): { value: string; label: string }[] {
  const locales = chosen === null || OFFERED.includes(chosen) ? OFFERED : [chosen, ...OFFERED];
  return locales.map((value) => ({ value, label: nameOf(value) }));
}
