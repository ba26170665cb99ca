/** Changes to a YAML text that leave every other line as it is: comments, order and style are kept. */
import { t } from '@lingui/core/macro';
import {
  type Document,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  type Pair,
  parseDocument,
  stringify,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';

export type Path = readonly (string | number)[];
export type Value = unknown;

/** The value of a text, or what is wrong with it. */
export function readYaml(
  text: string,
): { value: Value; problem: null } | { value: null; problem: string } {
  const document = parse(text);
  const [error] = document.errors;
  if (error) return { value: null, problem: error.message.split('\n')[0] ?? t`This is not YAML.` };
  return { value: document.toJS() as Value, problem: null };
}

export function valueAt(value: Value, path: Path): Value {
  return path.reduce<Value>(
    (around, name) =>
      typeof around === 'object' && around !== null
        ? (around as Record<string | number, Value>)[name]
        : undefined,
    value,
  );
}

/** Puts a value in its place, with what is missing around it. */
export function setValue(text: string, path: Path, value: Value): string {
  return changed(
    text,
    path,
    (draft) => put(draft, path, value),
    (document) => spliceValue(text, document, path, value),
  );
}

export function removeValue(text: string, path: Path): string {
  return changed(
    text,
    path,
    (draft) => take(draft, path),
    (document) => {
      const container =
        path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
      const key = path.at(-1);
      if (isSeq(container) && typeof key === 'number') return cutItem(text, container, key);
      return isMap(container) ? cutKey(text, container, String(key)) : null;
    },
  );
}

/** Puts a value before the item at the index; at the end, after the last one. */
export function insertItem(text: string, path: Path, index: number, value: Value): string {
  return changed(
    text,
    path,
    (draft) => {
      const list = valueAt(draft, path);
      const items = Array.isArray(list) ? (list as Value[]) : [];
      return put(draft, path, [...items.slice(0, index), value, ...items.slice(index)]);
    },
    (document) => {
      const list = document.getIn(path, true);
      if (!isSeq(list) || list.flow === true || list.items.length === 0) return null;
      const column = columnOf(text, startOf(list));
      const item = indented(rendered([value]), column);
      const before = list.items[index - 1];
      const at = index === 0 ? lineStart(text, startOf(list)) : lineEnd(text, endOf(before));
      const line = `${' '.repeat(column)}${item}`;
      return index === 0
        ? `${text.slice(0, at)}${line}\n${text.slice(at)}`
        : `${text.slice(0, at)}\n${line}${text.slice(at)}`;
    },
  );
}

/** Documents are read and never changed, so that what was parsed once serves again. */
const parsed = new Map<string, Document.Parsed>();
const MOST_PARSED = 16;

function parse(text: string): Document.Parsed {
  const known = parsed.get(text);
  if (known) return known;
  const document = parseDocument(text) as Document.Parsed;
  parsed.set(text, document);
  for (const oldest of parsed.keys()) {
    if (parsed.size > MOST_PARSED) parsed.delete(oldest);
  }
  return document;
}

/** The text changed in its place where that gives what was meant; otherwise the nearest field around it is written again. */
function changed(
  text: string,
  path: Path,
  wanted: (value: Value) => Value,
  splice: (document: Document.Parsed) => string | null,
): string {
  const document = parse(text);
  if (document.errors.length > 0) return text;
  const meant = wanted(document.toJS() as Value);
  if (isSame(text, meant)) return text;
  const spliced = splice(document);
  if (spliced !== null && isSame(spliced, meant)) return spliced;
  // Such as values within [ ] and { }, and the last item of a list.
  for (let length = path.length; length > 0; length -= 1) {
    const around = path.slice(0, length);
    const next = valueAt(meant, around);
    const made = next === undefined ? null : spliceValue(text, document, around, next);
    if (made !== null && isSame(made, meant)) return made;
  }
  return `${rendered(meant)}\n`;
}

function isSame(text: string, meant: Value): boolean {
  const document = parse(text);
  return document.errors.length === 0 && JSON.stringify(document.toJS()) === JSON.stringify(meant);
}

function spliceValue(
  text: string,
  document: Document.Parsed,
  path: Path,
  value: Value,
): string | null {
  const key = path.at(-1);
  const container = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  if (isSeq(container) && typeof key === 'number') return replaceItem(text, container, key, value);
  return isMap(container) ? setKey(text, container, String(key), value) : null;
}

function setKey(text: string, map: YAMLMap, key: string, value: Value): string | null {
  if (map.flow === true || map.items.length === 0) return null;
  const column = columnOf(text, startOf(map.items[0]?.key));
  const written = indented(rendered({ [key]: value }), column);
  const pair = map.items.find((each) => keyOf(each) === key);
  if (pair) return `${text.slice(0, startOf(pair.key))}${written}${text.slice(endOf(pair))}`;
  const at = lineEnd(text, endOf(map.items.at(-1)));
  return `${text.slice(0, at)}\n${' '.repeat(column)}${written}${text.slice(at)}`;
}

function cutKey(text: string, map: YAMLMap, key: string): string | null {
  const index = map.items.findIndex((each) => keyOf(each) === key);
  const pair = map.items[index];
  if (map.flow === true || map.items.length < 2 || !pair) return null;
  const start = startOf(pair.key);
  const next = map.items[index + 1];
  const isAfterDash = text.slice(lineStart(text, start), start).trim() !== '';
  if (isAfterDash) return next ? text.slice(0, start) + text.slice(startOf(next.key)) : null;
  return cutLines(text, start, endOf(pair));
}

function cutItem(text: string, list: YAMLSeq, index: number): string | null {
  const item = list.items[index];
  if (list.flow === true || list.items.length < 2 || item === undefined) return null;
  let start = lineStart(text, dashOf(text, list, index));
  // A comment right above the item is about the item.
  while (index > 0 && /^[ \t]*#/.test(lineBefore(text, start))) {
    start -= lineBefore(text, start).length + 1;
  }
  return cutLines(text, start, endOf(item));
}

function replaceItem(text: string, list: YAMLSeq, index: number, value: Value): string | null {
  const item = list.items[index];
  if (list.flow === true || item === undefined) return null;
  const dash = dashOf(text, list, index);
  return (
    text.slice(0, dash) +
    indented(rendered([value]), columnOf(text, dash)) +
    text.slice(endOf(item))
  );
}

function dashOf(text: string, list: YAMLSeq, index: number): number {
  return text.lastIndexOf('-', startOf(list.items[index]) - 1);
}

function cutLines(text: string, start: number, end: number): string {
  const after = lineEnd(text, end);
  return text.slice(0, lineStart(text, start)) + text.slice(Math.min(after + 1, text.length));
}

function lineStart(text: string, at: number): number {
  return text.lastIndexOf('\n', at - 1) + 1;
}

function lineEnd(text: string, at: number): number {
  const found = text.indexOf('\n', at);
  return found < 0 ? text.length : found;
}

function lineBefore(text: string, start: number): string {
  return start === 0 ? '' : text.slice(lineStart(text, start - 1), start - 1);
}

function columnOf(text: string, at: number): number {
  return at - lineStart(text, at);
}

function startOf(node: unknown): number {
  return isNode(node) && node.range ? node.range[0] : 0;
}

/** Where the last character of a value is, without the lines and comments behind it. */
function endOf(node: unknown): number {
  if (isPair(node)) return node.value === null ? endOf(node.key) : endOf(node.value);
  if (isCollection(node) && node.flow !== true && node.items.length > 0)
    return endOf(node.items.at(-1));
  if (!isNode(node) || !node.range) return 0;
  const isBlock = isScalar(node) && (node.type === 'BLOCK_LITERAL' || node.type === 'BLOCK_FOLDED');
  return isBlock ? node.range[1] - 1 : node.range[1];
}

function keyOf(pair: Pair): string {
  return String(isScalar(pair.key) ? pair.key.value : pair.key);
}

function rendered(value: Value): string {
  return stringify(value, { lineWidth: 0, indentSeq: false, aliasDuplicateObjects: false }).replace(
    /\n$/,
    '',
  );
}

function indented(text: string, column: number): string {
  return text.replaceAll(/\n(?=[^\n])/g, `\n${' '.repeat(column)}`);
}

function put(value: Value, path: Path, next: Value): Value {
  const [name, ...rest] = path;
  if (name === undefined) return next;
  const inner = put(valueAt(value, [name]), rest, next);
  if (Array.isArray(value)) return value.with(Number(name), inner) as Value;
  return { ...(value as Record<string, Value> | undefined), [name]: inner };
}

function take(value: Value, path: Path): Value {
  const [name, ...rest] = path;
  if (name === undefined || typeof value !== 'object' || value === null) return value;
  if (rest.length > 0) return put(value, [name], take(valueAt(value, [name]), rest));
  if (Array.isArray(value)) return value.toSpliced(Number(name), 1) as Value;
  const { [String(name)]: _gone, ...left } = value as Record<string, Value>;
  return left;
}
