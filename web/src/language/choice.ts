/** Which language the app speaks: the one chosen in this browser, or the first of the browser's own that is there. */
import { catalogues } from 'virtual:catalogues';

/** English stands in the code; it needs no catalogue. */
export const SOURCE_LANGUAGE = 'en';
export const LANGUAGES = [SOURCE_LANGUAGE, ...Object.keys(catalogues)];

const STORED_AS = 'steward.language';

/** Null means: as the browser says. */
export function chosenLanguage(): string | null {
  try {
    const stored = localStorage.getItem(STORED_AS);
    return stored !== null && LANGUAGES.includes(stored) ? stored : null;
  } catch {
    // Storage is blocked: follow the browser.
    return null;
  }
}

/** Loads the app again, because texts are read once, when a module starts. */
export function chooseLanguage(language: string | null): void {
  if (language === null) localStorage.removeItem(STORED_AS);
  else localStorage.setItem(STORED_AS, language);
  window.location.reload();
}

export function pickLanguage(
  chosen: string | null,
  wanted: readonly string[],
  offered: readonly string[],
): string {
  const tags = [chosen ?? '', ...wanted].map((tag) => tag.split('-')[0]?.toLowerCase());
  return tags.find((tag) => tag !== undefined && offered.includes(tag)) ?? SOURCE_LANGUAGE;
}
