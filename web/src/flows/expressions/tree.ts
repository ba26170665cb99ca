/** Reads an expression: parsed by cel-js, and refused where the server refuses it, at the same character. */
import { t } from '@lingui/core/macro';
import { type ASTNode, Environment, ParseError } from '@marcbachmann/cel-js';
import { outlineOf } from './outline';
import { characters, Mistake, outsideQuotes } from './texts';

/** The rules of the server, as it sends them. */
export interface ExpressionRules {
  roots: readonly string[];
  /** Operators and functions: the types that each takes, and last the one it gives. */
  signatures: Readonly<Record<string, readonly (readonly string[])[]>>;
  macros: readonly string[];
  no_methods: readonly string[];
  words: Readonly<Record<string, string>>;
  longest: number;
  deepest: number;
}

export type Tree =
  | { op: 'literal'; kind: string; start: number }
  | { op: 'path'; names: readonly string[]; start: number }
  | { op: 'bound'; name: string; start: number }
  | { op: 'operator'; name: string; operands: Tree[]; start: number }
  | { op: 'choice'; condition: Tree; ways: Tree[]; start: number }
  | { op: 'member'; around: Tree; name: string; start: number }
  | { op: 'item'; around: Tree; index: Tree; start: number }
  | { op: 'call'; name: string; given: Tree[]; start: number }
  | { op: 'macro'; name: string; around: Tree; variable: string; inner: Tree; start: number }
  | { op: 'list'; items: Tree[]; start: number }
  | { op: 'object'; parts: Tree[]; start: number };

/** The length of the text bounds everything that the parser counts; our own depth is stricter. */
const UNBOUNDED = 1_000_000;
const environment = new Environment({
  unlistedVariablesAreDyn: true,
  limits: {
    maxAstNodes: UNBOUNDED,
    maxDepth: UNBOUNDED,
    maxListElements: UNBOUNDED,
    maxMapEntries: UNBOUNDED,
    maxCallArguments: UNBOUNDED,
  },
});

export function readExpression(text: string, rules: ExpressionRules): Tree {
  const tooDeep = t`it is nested more than ${rules.deepest} levels deep`;
  if (characters(text).length > rules.longest)
    throw new Mistake(t`it is longer than ${rules.longest.toLocaleString('en-US')} characters`);
  if (text.trim() === '') throw new Mistake(t`it is empty`);
  let depth = 0;
  for (const position of outsideQuotes(text, 0)) {
    if ('([{'.includes(text.charAt(position))) depth += 1;
    else if (')]}'.includes(text.charAt(position))) depth -= 1;
    if (depth > rules.deepest) throw new Mistake(tooDeep, position);
  }
  try {
    return new Reader(text, rules, tooDeep).tree(parsed(text), new Set(), 0);
  } catch (problem) {
    // The parser calls itself for every level.
    if (problem instanceof RangeError) throw new Mistake(tooDeep);
    throw problem;
  }
}

function parsed(text: string): ASTNode {
  try {
    return environment.parse(outlineOf(text)).ast;
  } catch (problem) {
    if (!(problem instanceof ParseError)) throw problem;
    const at = problem.node?.pos ?? text.length;
    if (at >= text.length) throw new Mistake(t`it ends too early`, text.length);
    if (text[at] === '{')
      throw new Mistake(t`objects are written as ${'{'}'name': value${'}'}`, at);
    const found = characters(text.slice(at)).slice(0, 10).join('').split('\n')[0] ?? '';
    throw new Mistake(t`“${found}” is not expected here`, at);
  }
}

const ESCAPE = /\\[abfnrtv"'\\]|\\\d{3}|\\x[\da-fA-F]{2}|\\u[\da-fA-F]{4}|\\U[\da-fA-F]{8}|[^]/gu;
const ESCAPED: Record<string, string> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};
const BYTES = /^[bB][rR]?["']/;
const UNSIGNED = /^-?(0x[\da-fA-F]+|\d+)[uU]$/;
const WHOLE = /^-?(0x[\da-fA-F]+|\d+)$/;
const LARGEST = 2n ** 63n;
const SYMBOLS = /==|!=|<=|>=|<|>|in/;

type Names = ReadonlySet<string>;

class Reader {
  private readonly text: string;
  private readonly rules: ExpressionRules;
  private readonly tooDeep: string;

  constructor(text: string, rules: ExpressionRules, tooDeep: string) {
    this.text = text;
    this.rules = rules;
    this.tooDeep = tooDeep;
  }

  /** `depth` counts as the server's tree does: two levels for an operator, three for a list. */
  tree(node: ASTNode, bound: Names, depth: number): Tree {
    this.bounded(depth);
    const { start } = node;
    const names = this.path(node, bound);
    if (names) return this.reference(names, start);
    switch (node.op) {
      case 'value':
        return { op: 'literal', kind: this.kind(node), start };
      case 'id':
        this.bounded(depth + 1);
        this.undotted(start);
        return { op: 'bound', name: this.slice(node), start };
      case '?:': {
        const [condition, ...ways] = node.args;
        return {
          op: 'choice',
          condition: this.tree(condition, bound, depth + 1),
          ways: ways.map((each) => this.tree(each, bound, depth + 1)),
          start,
        };
      }
      case '||':
      case '&&':
        return this.operator(`_${node.op}_`, node.args, bound, [depth + 1, depth + 1], start);
      case '!_':
      case '-_':
        return this.operator(node.op, [node.args], bound, [depth + 1], start);
      case '.':
        return {
          op: 'member',
          around: this.tree(node.args[0], bound, depth + 1),
          name: this.memberName(node),
          start,
        };
      case '[]': {
        const [around, index] = node.args;
        return {
          op: 'item',
          around: this.tree(around, bound, depth + 1),
          index: this.tree(index, bound, depth + 1),
          start,
        };
      }
      case 'rcall':
        return this.method(node, bound, depth);
      case 'call':
        return this.call(node, bound, depth);
      case 'list':
        return { op: 'list', items: this.all(node.args, bound, depth), start };
      case 'map':
        return { op: 'object', parts: this.all(node.args.flat(), bound, depth), start };
      default:
        return this.binary(node as BinaryNode, bound, depth);
    }
  }

  private binary(node: BinaryNode, bound: Names, depth: number): Tree {
    const [left, right] = node.args;
    // Every comparison was written as one of the same strength.
    const symbol = node.op.startsWith('<') || node.op.startsWith('>');
    const between = this.text.slice(left.end, right.start);
    const name = symbol ? (SYMBOLS.exec(between)?.[0] ?? node.op) : node.op;
    return this.operator(`_${name}_`, node.args, bound, [depth + 2, depth + 1], node.start);
  }

  private operator(
    name: string,
    operands: readonly ASTNode[],
    bound: Names,
    depths: readonly number[],
    start: number,
  ): Tree {
    this.bounded(Math.min(...depths));
    const made = operands.map((each, index) => this.tree(each, bound, depths[index] ?? 0));
    return { op: 'operator', name, operands: made, start };
  }

  private method(node: Node<'rcall'>, bound: Names, depth: number): Tree {
    const [written, receiver, given] = node.args;
    const { start } = node;
    const around = this.tree(receiver, bound, depth + 1);
    const at = this.nameBehind(receiver.end);
    const name = this.text.slice(at, at + written.length);
    if (!this.rules.macros.includes(name)) {
      if (this.rules.no_methods.includes(name))
        throw new Mistake(t`write ${name}(…) instead of ….${name}()`, at);
      this.known(name, at);
      if (given.length > 0) this.bounded(depth + 1);
      const values = given.map((each) => this.tree(each, bound, depth + 2));
      return { op: 'call', name, given: [around, ...values], start };
    }
    const [first, body] = given;
    const isNamed = given.length === 2 && first?.op === 'id' && this.text[first.start] !== '.';
    if (!isNamed || !body)
      throw new Mistake(t`write .${name}(x, …) with a name and an expression`, at);
    const variable = this.slice(first);
    const inner = this.tree(body, new Set([...bound, variable]), depth + 1);
    return { op: 'macro', name, around, variable, inner, start };
  }

  private call(node: Node<'call'>, bound: Names, depth: number): Tree {
    const [written, given] = node.args;
    const { start } = node;
    this.bounded(depth + 1);
    this.undotted(start);
    const name = this.text.slice(start, start + written.length);
    if (name !== 'has') this.known(name, start);
    else if (given.length !== 1 || !['.', '[]'].includes(given[0]?.op ?? ''))
      throw new Mistake(t`write has(….field)`, start);
    return { op: 'call', name, given: this.all(given, bound, depth), start };
  }

  /** What is inside a bracket, and the two levels around it. */
  private all(nodes: readonly ASTNode[], bound: Names, depth: number): Tree[] {
    this.bounded(depth + (nodes.length > 0 ? 2 : 1));
    return nodes.map((each) => this.tree(each, bound, depth + 3));
  }

  /** The names of a chain such as `a.b["c"]` that starts at a variable of the flow. */
  private path(node: ASTNode, bound: Names): string[] | null {
    const names: string[] = [];
    let next = node;
    for (;;) {
      if (next.op === '.') names.unshift(this.memberName(next));
      else if (next.op === '[]') {
        const key = this.key(next.args[1]);
        if (!key) break;
        names.unshift(key);
      } else break;
      next = next.args[0];
    }
    if (next.op !== 'id' || this.text[next.start] === '.') return null;
    const first = this.slice(next);
    return bound.has(first) ? null : [first, ...names];
  }

  private reference(names: readonly string[], start: number): Tree {
    const [first = '', , part = ''] = names;
    if (!this.rules.roots.includes(first))
      throw new Mistake(
        t`there is no ''${first}'; there are ${this.rules.roots.join(', ')}`,
        start,
      );
    if (first === 'nodes' && (names.length < 3 || !['output', 'state'].includes(part)))
      throw new Mistake(t`write nodes.<id>.output`, start);
    return { op: 'path', names, start };
  }

  private kind(node: Node<'value'>): string {
    const written = this.slice(node);
    if (BYTES.test(written) || UNSIGNED.test(written))
      throw new Mistake(t`only text, numbers, true, false and null are values`, node.start);
    if (written === 'null') return 'null';
    if (written === 'true' || written === 'false') return 'boolean';
    if (/["']$/.test(written)) {
      this.unquoted(written, node.start);
      return 'string';
    }
    const isTooLarge = WHOLE.test(written)
      ? !isWhole64(written)
      : !Number.isFinite(Number(written));
    if (isTooLarge) throw new Mistake(t`this number is too large`, node.start);
    return 'number';
  }

  /** The text of an index that is one. */
  private key(node: ASTNode): string | null {
    if (node.op !== 'value') return null;
    const written = this.slice(node);
    const isText = /["']$/.test(written) && !BYTES.test(written);
    return isText ? this.unquoted(written, node.start) : null;
  }

  private unquoted(written: string, start: number): string {
    if (/^[rR]/.test(written)) return written.slice(2, -1);
    return written.slice(1, -1).replace(ESCAPE, (found) => {
      if (found.length < 2 || !found.startsWith('\\')) return found;
      const letter = found.charAt(1);
      if (found.length === 2) return ESCAPED[letter] ?? letter;
      const isOctal = /\d/.test(letter);
      const code = isOctal ? parseOctal(found.slice(1)) : Number.parseInt(found.slice(2), 16);
      const isCharacter = code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
      if (!isCharacter) throw new Mistake(t`this text has an escape for no character`, start);
      return String.fromCodePoint(code);
    });
  }

  private known(name: string, at: number): void {
    const { signatures, macros } = this.rules;
    const names = Object.keys(signatures).filter((each) => /^[A-Za-z]+$/.test(each));
    if (names.includes(name)) return;
    const listed = [...names, ...macros, 'has'].sort(byCharacter).join(', ');
    throw new Mistake(t`there is no function ''${name}'; there are ${listed}`, at);
  }

  private undotted(start: number): void {
    if (this.text[start] === '.') throw new Mistake(t`a name does not start with a dot`, start);
  }

  private bounded(depth: number): void {
    if (depth > this.rules.deepest) throw new Mistake(this.tooDeep);
  }

  private memberName(node: Node<'.'>): string {
    return this.text.slice(node.pos, node.pos + node.args[1].length);
  }

  private nameBehind(end: number): number {
    const dot = /[\s)]*\.\s*/y;
    dot.lastIndex = end;
    dot.exec(this.text);
    return dot.lastIndex;
  }

  private slice({ start, end }: ASTNode): string {
    return this.text.slice(start, end);
  }
}

type Node<Op extends ASTNode['op']> = Extract<ASTNode, { op: Op }>;
type BinaryNode = Node<'+'>;

/** As Python orders texts. */
const byCharacter = (a: string, b: string) => (a < b ? -1 : Number(a > b));

const parseOctal = (digits: string) =>
  /^[0-7]+$/.test(digits) ? Number.parseInt(digits, 8) : Number.POSITIVE_INFINITY;

function isWhole64(written: string): boolean {
  const isNegative = written.startsWith('-');
  const size = BigInt(isNegative ? written.slice(1) : written);
  return isNegative ? size <= LARGEST : size < LARGEST;
}
