import { expect, test } from 'vitest';
import { pickLanguage } from '@/language/choice';

const OFFERED = ['en', 'de', 'fr'];

test('the first wanted language that is offered is used', () => {
  expect(pickLanguage(null, ['it-IT', 'de-CH', 'fr'], OFFERED)).toBe('de');
  expect(pickLanguage(null, ['en-GB', 'de'], OFFERED)).toBe('en');
  expect(pickLanguage(null, ['it'], OFFERED)).toBe('en');
});

test('a choice goes before the browser', () => {
  expect(pickLanguage('fr', ['de-DE'], OFFERED)).toBe('fr');
});

test('a language that is not complete is not used', () => {
  expect(pickLanguage(null, ['fr-FR', 'de-DE'], ['en', 'de'])).toBe('de');
  expect(pickLanguage('fr', ['de-DE'], ['en'])).toBe('en');
});
