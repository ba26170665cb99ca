/** Markdown as a tree of blocks. What is not finished yet, as while a text is streamed, still reads well. */
import { type Inline, inlineOf } from './inline-markdown';

export type Align = 'start' | 'center' | 'end';

export type Block =
  | { kind: 'paragraph'; parts: Inline[] }
  | { kind: 'heading'; level: number; parts: Inline[] }
  | { kind: 'code'; language: string; text: string }
  | { kind: 'quote'; blocks: Block[] }
  | { kind: 'list'; ordered: boolean; start: number; items: Block[][] }
  | { kind: 'table'; head: Inline[][]; align: Align[]; rows: Inline[][][] }
  | { kind: 'rule' };

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^`\s]*)[^`]*$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const RULE = /^ {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$/;
const QUOTE = /^ {0,3}> ?(.*)$/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])(?:\s+(.*)|)$/;
const DIVIDER = /^ {0,3}\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;
const DEEPEST = 5;

/** Takes blocks from the front of the lines, one after the other. */
class Reader {
  readonly lines: string[];
  at = 0;

  constructor(lines: string[]) {
    this.lines = lines;
  }

  get line(): string | undefined {
    return this.lines[this.at];
  }

  take(): string {
    this.at += 1;
    return this.lines[this.at - 1] ?? '';
  }
}

export function blocksOf(text: string): Block[] {
  return parse(text.replaceAll('\r\n', '\n').replaceAll('\t', '    ').split('\n'), 0);
}

function parse(lines: string[], depth: number): Block[] {
  const reader = new Reader(lines);
  const blocks: Block[] = [];
  while (reader.line !== undefined) {
    if (reader.line.trim() === '') reader.take();
    else blocks.push(blockAt(reader, depth));
  }
  return blocks;
}

function blockAt(reader: Reader, depth: number): Block {
  const line = reader.line ?? '';
  const fence = FENCE.exec(line);
  if (fence) return codeAt(reader, fence[1] ?? '```', fence[2] ?? '');
  const heading = HEADING.exec(line);
  if (heading) {
    reader.take();
    return {
      kind: 'heading',
      level: (heading[1] ?? '#').length,
      parts: inlineOf(heading[2] ?? ''),
    };
  }
  if (RULE.test(line)) {
    reader.take();
    return { kind: 'rule' };
  }
  if (depth < DEEPEST && QUOTE.test(line)) return quoteAt(reader, depth);
  if (depth < DEEPEST && ITEM.test(line)) return listAt(reader, depth);
  if (isTable(reader)) return tableAt(reader);
  return paragraphAt(reader);
}

function codeAt(reader: Reader, fence: string, language: string): Block {
  reader.take();
  const lines: string[] = [];
  const end = new RegExp(String.raw`^ {0,3}${fence[0] ?? '`'}{${fence.length},}\s*$`);
  while (reader.line !== undefined) {
    const line = reader.take();
    if (end.test(line)) break;
    lines.push(line);
  }
  return { kind: 'code', language, text: lines.join('\n') };
}

function quoteAt(reader: Reader, depth: number): Block {
  const lines: string[] = [];
  for (;;) {
    const inside = reader.line === undefined ? null : QUOTE.exec(reader.line);
    if (!inside) break;
    lines.push(inside[1] ?? '');
    reader.take();
  }
  return { kind: 'quote', blocks: parse(lines, depth + 1) };
}

function listAt(reader: Reader, depth: number): Block {
  const first = ITEM.exec(reader.line ?? '');
  const marker = first?.[2] ?? '-';
  const ordered = /\d/.test(marker);
  const items: Block[][] = [];
  for (;;) {
    const item = reader.line === undefined ? null : ITEM.exec(reader.line);
    const isSame = item && /\d/.test(item[2] ?? '') === ordered && !RULE.test(reader.line ?? '');
    if (!isSame) break;
    items.push(parse(itemLines(reader, item), depth + 1));
  }
  return { kind: 'list', ordered, start: ordered ? Number.parseInt(marker, 10) : 1, items };
}

/** The lines of an item without their indent: its own, and what stands further in. */
function itemLines(reader: Reader, item: RegExpExecArray): string[] {
  const lines = [item[3] ?? ''];
  reader.take();
  for (;;) {
    const line = reader.line;
    if (line === undefined) return lines;
    const next = line.trim() === '' ? (reader.lines[reader.at + 1] ?? '') : line;
    const isInside = /^ {2,}\S/.test(next);
    const isLazy = line.trim() !== '' && lines.at(-1) !== '' && !startsBlock(line);
    if (!isInside && !isLazy) return lines;
    lines.push(reader.take().replace(/^ {1,4}/, ''));
  }
}

const startsBlock = (line: string) =>
  [FENCE, HEADING, RULE, QUOTE, ITEM].some((start) => start.test(line));

function isTable({ lines, at }: Reader): boolean {
  const [head = '', divider = ''] = [lines[at], lines[at + 1]];
  return head.includes('|') && divider.includes('-') && DIVIDER.test(divider);
}

function cellsOf(line: string): string[] {
  const inner = line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '');
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll(String.raw`\|`, '|'));
}

function tableAt(reader: Reader): Block {
  const head = cellsOf(reader.take());
  const align = cellsOf(reader.take()).map((cell): Align => {
    if (!cell.endsWith(':')) return 'start';
    return cell.startsWith(':') ? 'center' : 'end';
  });
  const rows: Inline[][][] = [];
  while (reader.line?.includes('|')) {
    const cells = cellsOf(reader.take());
    rows.push(head.map((_, index) => inlineOf(cells[index] ?? '')));
  }
  return { kind: 'table', head: head.map((cell) => inlineOf(cell)), align, rows };
}

function paragraphAt(reader: Reader): Block {
  const lines = [reader.take().trim()];
  while (reader.line !== undefined && reader.line.trim() !== '' && !startsBlock(reader.line)) {
    if (isTable(reader)) break;
    lines.push(reader.take().trim());
  }
  return { kind: 'paragraph', parts: inlineOf(lines.join('\n')) };
}
