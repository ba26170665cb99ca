import { describe, expect, it } from 'vitest';
import { createFormats, resolveLocale } from '@/components/format';

const british = createFormats('en-GB', 'UTC');
const german = createFormats('de-DE', 'UTC');
const NOW = Date.parse('2026-11-15T12:00:00Z');
const at = (iso: string) => british.relative(iso, NOW);

describe('formats', () => {
  it('follow the locale', () => {
    expect(british.number(1234567.5)).toBe('1,234,567.5');
    expect(german.number(1234567.5)).toBe('1.234.567,5');
    expect(british.date('2026-03-09T17:45:00Z')).toBe('9 Mar 2026');
    expect(german.date('2026-03-09T17:45:00Z')).toBe('09.03.2026');
    expect(british.dateTime('2026-03-09T17:45:00Z')).toBe('9 Mar 2026, 17:45');
  });

  it('write sizes in the unit that fits', () => {
    expect(british.bytes(0)).toBe('0 bytes');
    expect(british.bytes(999)).toBe('999 bytes');
    expect(british.bytes(48_211)).toBe('48.2 kB');
    expect(german.bytes(1_182_733)).toBe('1,2 MB');
    expect(british.bytes(5e15)).toBe('5,000 TB');
  });

  it('tell how long ago something was', () => {
    expect(at('2026-11-15T11:59:40Z')).toBe('now');
    expect(at('2026-11-15T11:59:10Z')).toBe('1 minute ago');
    expect(at('2026-11-15T11:18:00Z')).toBe('42 minutes ago');
    expect(at('2026-11-15T09:00:00Z')).toBe('3 hours ago');
    expect(at('2026-11-14T12:00:00Z')).toBe('yesterday');
    expect(at('2026-11-20T12:00:00Z')).toBe('in 5 days');
    expect(at('2026-08-01T12:00:00Z')).toBe('1 Aug 2026');
  });

  it('show a broken date as it is rather than fail', () => {
    expect(british.date('soon')).toBe('soon');
    expect(british.relative('soon', NOW)).toBe('soon');
  });
});

describe('the locale', () => {
  it('is the first that the browser knows', () => {
    expect(resolveLocale('de-DE', 'en-GB')).toBe('de-DE');
    expect(resolveLocale(null, undefined, 'fr-FR')).toBe('fr-FR');
    expect(resolveLocale('not a locale', 'x')).toBe('en');
  });
});
