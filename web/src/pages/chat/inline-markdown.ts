/** The parts of a line of Markdown: emphasis, code and links. HTML is text like any other. */

export type Inline =
  | { kind: 'text'; text: string }
  | { kind: 'code'; text: string }
  | { kind: 'break' }
  | { kind: 'strong' | 'emphasis' | 'struck'; parts: Inline[] }
  | { kind: 'link'; address: string; parts: Inline[] };

const ESCAPE = /^\\([\\`*_{}[\]()#+\-.!|~<>])/;
const CODE = /^(`+)([^`]|[^`][\s\S]*?[^`])\1(?!`)/;
/** An image is a link to it: nothing is loaded from elsewhere by reading an answer. */
const LINK =
  /^!?\[((?:[^[\]\\]|\\.)*)\]\(\s*<?([^\s<>()]*(?:\([^\s<>()]*\)[^\s<>()]*)*)>?(?:\s+["'(][^"')]*["')])?\s*\)/;
const BARE = /^https?:\/\/[^\s<>()]+[^\s<>().,;:!?'"\]]/;
const ANGLED = /^<(https?:\/\/[^\s<>]+)>/;
const SPANS: { marker: RegExp; kind: 'strong' | 'emphasis' | 'struck' }[] = [
  { marker: /^(\*\*|__)(?=\S)([\s\S]*?\S)\1/, kind: 'strong' },
  { marker: /^(\*)(?=[^\s*])([\s\S]*?[^\s*])\1(?!\*)/, kind: 'emphasis' },
  { marker: /^(_)(?=[^\s_])([\s\S]*?[^\s_])\1(?![\p{L}\p{N}_])/u, kind: 'emphasis' },
  { marker: /^(~~)(?=\S)([\s\S]*?\S)\1/, kind: 'struck' },
];
const DEEPEST = 6;
/** How far a closing mark is looked for, so that no text takes long however it is made. */
const FURTHEST = 2_000;
/** A character at which something other than text can begin. */
const SPECIAL = /[\\`*_~[!<\n]|https?:\/\//g;

/** Only addresses that lead to pages and mail; a script is none. Null for everything else. */
export function safeAddress(address: string): string | null {
  if (/^(https?:|mailto:)/i.test(address)) return address;
  if (/^(\/(?![/\\])|#)/.test(address)) return address;
  return null;
}

export function inlineOf(text: string, depth = 0): Inline[] {
  const parts: Inline[] = [];
  let plain = '';
  let rest = text;
  const push = (part: Inline) => {
    if (plain !== '') parts.push({ kind: 'text', text: plain });
    plain = '';
    parts.push(part);
  };
  while (rest !== '') {
    const before = plain.at(-1) ?? text[text.length - rest.length - 1] ?? ' ';
    const found = depth < DEEPEST ? special(rest, before, depth) : null;
    if (found && typeof found.part === 'string') plain += found.part;
    else if (found) push(found.part as Inline);
    const taken = found?.length ?? plainLength(rest);
    if (!found) plain += rest.slice(0, taken);
    rest = rest.slice(taken);
  }
  if (plain !== '') parts.push({ kind: 'text', text: plain });
  return parts;
}

/** How far the text goes before something else may begin; at least one character. */
function plainLength(text: string): number {
  SPECIAL.lastIndex = 1;
  return SPECIAL.exec(text)?.index ?? text.length;
}

interface Found {
  part: Inline | string;
  length: number;
}

function special(text: string, before: string, depth: number): Found | null {
  const rest = text.slice(0, FURTHEST);
  if (rest.startsWith('\n')) return { part: { kind: 'break' }, length: 1 };
  const escaped = ESCAPE.exec(rest);
  if (escaped) return { part: escaped[1] ?? '', length: 2 };
  const code = CODE.exec(rest);
  if (code) return { part: { kind: 'code', text: (code[2] ?? '').trim() }, length: code[0].length };
  return linkIn(rest, before, depth) ?? spanIn(rest, before, depth);
}

function linkIn(rest: string, before: string, depth: number): Found | null {
  const link = LINK.exec(rest);
  if (link) {
    const address = safeAddress(link[2] ?? '');
    const parts = inlineOf(link[1] ?? '', depth + 1);
    if (address !== null) return { part: { kind: 'link', address, parts }, length: link[0].length };
    return { part: link[1] ?? '', length: link[0].length };
  }
  const angled = ANGLED.exec(rest);
  const bare = angled ?? (/[\p{L}\p{N}]/u.test(before) ? null : BARE.exec(rest));
  if (!bare) return null;
  const address = angled?.[1] ?? bare[0];
  return {
    part: { kind: 'link', address, parts: [{ kind: 'text', text: address }] },
    length: bare[0].length,
  };
}

function spanIn(rest: string, before: string, depth: number): Found | null {
  for (const { marker, kind } of SPANS) {
    const span = marker.exec(rest);
    // snake_case is a name, no emphasis.
    const isInWord = rest.startsWith('_') && /[\p{L}\p{N}_]/u.test(before);
    if (!span || isInWord) continue;
    return { part: { kind, parts: inlineOf(span[2] ?? '', depth + 1) }, length: span[0].length };
  }
  return null;
}
