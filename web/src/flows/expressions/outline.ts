/**
 * The structure of an expression for the CEL parser, character by character: names become `v`, literals `1`,
 * comparisons `<=`, and what the server's grammar refuses `#`, so that the parser stops there. Names and literals
 * are read from the text itself, as the server reads them.
 */
import { quoteEnd } from './texts';

const SPACE = /[\t\n\f\r ]+/y;
const NAME = /[A-Za-z_]\w*/y;
const DOTTED = /\.[\t\n\f\r ]*(?!(?:true|false)\b)[A-Za-z_]\w*/y;
const QUOTED = /[bB]?[rR]?(?=["'])/y;
const NUMBER =
  /-?(?:\d+\.\d*(?:[eE][+-]?\d+)?|\d*\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)|-?(?:0x[\da-fA-F]+|\d+)[uU]?/y;
const OPERATOR = /==|!=|<=|>=|in|&&|\|\||[<>+\-*/%]/y;

export function outlineOf(text: string): string {
  const made: string[] = [];
  let position = 0;
  /** Whether a value comes next, or an operator behind one. */
  let wantsValue = true;
  let isAfterComma = false;
  /** Question marks without their colon, for each open bracket. */
  const open: number[] = [0];
  const read = (pattern: RegExp) => {
    pattern.lastIndex = position;
    return pattern.exec(text)?.[0];
  };
  const put = (length: number, as: string) => {
    made.push(as.length === 1 ? as.repeat(length) : as);
    position += length;
  };
  const value = (): boolean => {
    const prefix = read(QUOTED);
    if (prefix !== undefined) {
      put(quoteEnd(text, position + prefix.length) - position, '1');
      return true;
    }
    const number = read(NUMBER);
    if (number !== undefined) {
      put(number.length, '1');
      return true;
    }
    const name = read(NAME) ?? read(DOTTED);
    if (name === undefined) return false;
    put(name.length, isConstant(name) ? '1' : 'v');
    return true;
  };
  const close = () => {
    if (open.length > 1) open.pop();
  };
  while (position < text.length) {
    const space = read(SPACE);
    const char = text.charAt(position);
    if (space !== undefined) put(space.length, ' ');
    else if (wantsValue && '([{'.includes(char)) {
      open.push(0);
      put(1, char);
      isAfterComma = false;
    } else if (wantsValue && ')]}'.includes(char) && !isAfterComma) {
      close();
      put(1, char);
      wantsValue = false;
    } else if (wantsValue) {
      if (value()) wantsValue = false;
      else if (char === '!' || char === '-') put(1, char);
      else if (char === '.') {
        // A name must follow, and none does.
        put(1, '!');
        put(read(SPACE)?.length ?? 0, ' ');
        return stop(made, text, position);
      } else return stop(made, text, position);
      isAfterComma = false;
    } else if (char === '.') {
      put(1, '.');
      put(read(SPACE)?.length ?? 0, ' ');
      const name = read(NAME);
      if (name === undefined || name === 'true' || name === 'false')
        return stop(made, text, position);
      put(name.length, 'v');
    } else if (char === '(' || char === '[') {
      open.push(0);
      put(1, char);
      wantsValue = true;
    } else if (')]}'.includes(char)) {
      close();
      put(1, char);
    } else if (char === ',' || char === '?' || char === ':') {
      const level = open.length - 1;
      const waiting = open[level] ?? 0;
      // The middle of a choice is no choice itself, unless it is in brackets.
      if (char === '?' && waiting > 0) return stop(made, text, position);
      if (char === '?') open[level] = waiting + 1;
      if (char === ':') open[level] = Math.max(0, waiting - 1);
      isAfterComma = char === ',';
      put(1, char);
      wantsValue = true;
    } else {
      const operator = read(OPERATOR);
      if (operator === undefined) return stop(made, text, position);
      put(operator.length, COMPARISONS.has(operator) ? '<=' : operator);
      wantsValue = true;
    }
  }
  return made.join('');
}

const isConstant = (name: string) => name === 'true' || name === 'false' || name === 'null';

/** All of two characters; `<` and `>` bind as strongly. */
const COMPARISONS = new Set(['==', '!=', '<=', '>=', 'in']);

/** The outline up to where the text is refused; the end itself is refused by the parser. */
const stop = (made: string[], text: string, position: number) =>
  `${made.join('')}${position < text.length ? '#' : ''}`;
