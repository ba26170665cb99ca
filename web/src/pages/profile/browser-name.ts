/** What a browser calls itself, in words that people know. */
import { t } from '@lingui/core/macro';

// In this order: most of them also claim to be the ones below.
const BROWSERS: [RegExp, string][] = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\//, 'Firefox'],
  [/Chrom(e|ium)\//, 'Chrome'],
  [/Safari\//, 'Safari'],
];
const SYSTEMS: [RegExp, string][] = [
  [/iPhone|iPad/, 'iOS'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/Linux/, 'Linux'],
];
const LONGEST = 40;

const first = (known: [RegExp, string][], agent: string) =>
  known.find(([pattern]) => pattern.test(agent))?.[1];

export function browserName(agent: string): string {
  const browser = first(BROWSERS, agent);
  const system = first(SYSTEMS, agent);
  if (browser === undefined) return agent === '' ? t`Unknown browser` : agent.slice(0, LONGEST);
  return system === undefined ? browser : t`${browser} on ${system}`;
}
