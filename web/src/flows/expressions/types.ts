/** Which types of JSON value an expression can give, by the schemas of what it reads; the server checks the same. */
import { plural, t } from '@lingui/core/macro';
import { Mistake } from './texts';
import type { ExpressionRules, Tree } from './tree';

export type Schema = Readonly<Record<string, unknown>> | boolean;

/** Declared schemas by the start of a path: `inputs`, `nodes.load.output`. */
export type NameTypes = ReadonlyMap<string, Schema>;

export interface Type {
  kinds: ReadonlySet<string>;
  schema: Schema;
  root: Schema;
  /** Set where they are known from the expression instead of the schema. */
  items?: Type;
}

const KINDS = ['string', 'number', 'integer', 'boolean', 'null', 'object', 'array'];
const CHOICES = ['anyOf', 'oneOf'] as const;

export class TypeCheck {
  private readonly rules: ExpressionRules;
  private readonly names: NameTypes;
  private readonly every: ReadonlySet<string>;

  constructor(rules: ExpressionRules, names: NameTypes) {
    this.rules = rules;
    this.names = names;
    this.every = new Set(Object.keys(rules.words));
  }

  /** What the tree gives; a mistake where a field is not there or types do not go together. */
  type(tree: Tree): Type {
    for (const path of pathsOf(tree)) {
      if (this.declared(path.names) === null)
        throw new Mistake(t`there is no such field`, path.start);
    }
    return this.of(tree, new Map());
  }

  words(type: Type): string {
    if (type.kinds.size === this.every.size) return t`any value`;
    const { words } = this.rules;
    return Object.keys(words)
      .filter((kind) => type.kinds.has(kind))
      .map((kind) => words[kind])
      .join(t` or `);
  }

  ofSchema(schema: Schema, root: Schema): Type {
    const kinds = [...kindsOf(schema, root)]
      .filter((kind) => KINDS.includes(kind))
      .map((kind) => (kind === 'integer' ? 'number' : kind));
    return { kinds: kinds.length > 0 ? new Set(kinds) : this.every, schema, root };
  }

  private of(tree: Tree, bound: ReadonlyMap<string, Type>): Type {
    switch (tree.op) {
      case 'literal':
        return only(tree.kind);
      case 'path': {
        const found = this.declared(tree.names);
        return found === true || found === null ? this.any() : this.ofSchema(...found);
      }
      case 'bound':
        return bound.get(tree.name) ?? this.any();
      case 'operator': {
        const types = tree.operands.map((each) => this.of(each, bound));
        const found = this.given(tree.name, types);
        if (found) return found;
        const said = types.map((each) => this.words(each)).join(t` and `);
        const fits = plural(types.length, { one: `does not fit`, other: `do not go together` });
        throw new Mistake(t`${said} ${fits} here`, tree.start);
      }
      case 'choice': {
        const condition = this.of(tree.condition, bound);
        const ways = tree.ways.map((each) => this.of(each, bound));
        if (!condition.kinds.has('boolean'))
          throw new Mistake(
            t`what stands before the question mark must be true or false`,
            tree.start,
          );
        return this.either(ways);
      }
      case 'member':
        return this.member(this.of(tree.around, bound), tree.name, tree.start);
      case 'item': {
        const around = this.of(tree.around, bound);
        const index = this.of(tree.index, bound);
        if (!this.given('_[_]', [around, index]))
          throw new Mistake(
            t`${this.words(around)} has no item by ${this.words(index)}`,
            tree.start,
          );
        return this.itemOf(around);
      }
      case 'macro': {
        const around = this.of(tree.around, bound);
        if (!around.kinds.has('array') && !around.kinds.has('object'))
          throw new Mistake(
            t`${tree.name} goes over lists and objects, not over ${this.words(around)}`,
            tree.start,
          );
        // Of an object, it goes over the keys.
        const isObject = around.kinds.size === 1 && around.kinds.has('object');
        const item = isObject ? only('string') : this.itemOf(around);
        const inner = this.of(tree.inner, new Map([...bound, [tree.variable, item]]));
        if (tree.name === 'map') return list(inner);
        if (!inner.kinds.has('boolean'))
          throw new Mistake(
            t`${tree.name} needs true or false for each, not ${this.words(inner)}`,
            tree.inner.start,
          );
        return tree.name === 'filter' ? list(item) : only('boolean');
      }
      case 'call':
        return this.called(
          tree.name,
          tree.given.map((each) => this.of(each, bound)),
          tree.start,
        );
      case 'list':
        return list(this.either(tree.items.map((each) => this.of(each, bound))));
      case 'object':
        for (const each of tree.parts) this.of(each, bound);
        return only('object');
    }
  }

  private called(name: string, types: readonly Type[], start: number): Type {
    if (name === 'has') return only('boolean');
    const found = this.given(name, types);
    if (found) return found;
    const { words, signatures } = this.rules;
    const takes = (signatures[name] ?? [])
      .map((each) => listed(each.slice(0, -1).map((kind) => words[kind] ?? t`any value`)))
      .join(t` or `);
    const given = listed(types.map((each) => this.words(each)));
    throw new Mistake(t`${name} takes ${takes}, not ${given}`, start);
  }

  /** What a function or operator gives for values of these types; null when it takes none of them. */
  private given(name: string, types: readonly Type[]): Type | null {
    const results = (this.rules.signatures[name] ?? [])
      .filter(
        (each) =>
          each.length - 1 === types.length &&
          types.every((type, index) => each[index] === 'any' || type.kinds.has(each[index] ?? '')),
      )
      .flatMap((each) => (each.at(-1) === 'any' ? [...this.every] : each.slice(-1)));
    return results.length > 0 ? { kinds: new Set(results), schema: true, root: true } : null;
  }

  private member(around: Type, name: string, start: number): Type {
    if (!around.kinds.has('object'))
      throw new Mistake(t`only objects have fields, and this is ${this.words(around)}`, start);
    const found = fieldOf(around.schema, name, around.root, false);
    if (found === null) throw new Mistake(t`there is no field ''${name}'`, start);
    return this.ofSchema(found, around.root);
  }

  private itemOf(around: Type): Type {
    if (around.items) return around.items;
    const schema = resolved(around.schema, around.root);
    const isList = around.kinds.size === 1 && around.kinds.has('array');
    if (!isList || typeof schema === 'boolean') return this.any();
    return this.ofSchema((schema.items ?? true) as Schema, around.root);
  }

  private either(types: readonly Type[]): Type {
    const [first] = types;
    if (first && types.length === 1) return first;
    const kinds = new Set(types.flatMap((each) => [...each.kinds]));
    return { kinds: kinds.size > 0 ? kinds : this.every, schema: true, root: true };
  }

  private any(): Type {
    return { kinds: this.every, schema: true, root: true };
  }

  /** The schema at the end of a path with its root; null when there is no such field, true when unknown. */
  private declared(path: readonly string[]): [Schema, Schema] | true | null {
    const length = path[0] === 'nodes' ? 3 : 1;
    const root = this.names.get(path.slice(0, length).join('.'));
    if (root === undefined) return true;
    let schema: Schema = root;
    for (const name of path.slice(length)) {
      const found = fieldOf(schema, name, root, path[0] === 'inputs');
      if (found === null || found === true) return found;
      schema = found;
    }
    return [schema, root];
  }
}

const only = (kind: string): Type => ({ kinds: new Set([kind]), schema: true, root: true });
const list = (items: Type): Type => ({ ...only('array'), items });
const listed = (words: readonly string[]) => `(${words.join(', ')})`;

/** Every reference, in the order of the text, each once. */
export function pathsOf(tree: Tree): { names: readonly string[]; start: number }[] {
  const found = new Map<string, { names: readonly string[]; start: number }>();
  const visit = (each: Tree): void => {
    if (each.op === 'path') {
      const name = each.names.join('.');
      if (!found.has(name)) found.set(name, each);
    }
    partsOf(each).forEach(visit);
  };
  visit(tree);
  return [...found.values()];
}

function partsOf(tree: Tree): readonly Tree[] {
  switch (tree.op) {
    case 'operator':
      return tree.operands;
    case 'choice':
      return [tree.condition, ...tree.ways];
    case 'member':
      return [tree.around];
    case 'item':
      return [tree.around, tree.index];
    case 'call':
      return tree.given;
    case 'macro':
      return [tree.around, tree.inner];
    case 'list':
      return tree.items;
    case 'object':
      return tree.parts;
    default:
      return [];
  }
}

/** The types of JSON value that can fulfil a schema, as far as it says. */
export function kindsOf(
  schema: Schema,
  root: Schema,
  seen = new Map<Schema, ReadonlySet<string>>(),
): ReadonlySet<string> {
  const whole = resolved(schema, root);
  if (typeof whole === 'boolean') return new Set(KINDS);
  const known = seen.get(whole);
  if (known) return known;
  seen.set(whole, new Set(KINDS));
  let found = KINDS;
  const { type, enum: values } = whole;
  if (type !== undefined) found = (Array.isArray(type) ? type : [type]) as string[];
  if ('const' in whole) found = found.filter((kind) => kind === kindOf(whole.const));
  if (Array.isArray(values)) {
    const kinds = [...values.map(kindOf), 'number', 'integer'];
    found = found.filter((kind) => kinds.includes(kind));
  }
  for (const word of CHOICES) {
    const options = whole[word];
    if (!Array.isArray(options)) continue;
    const kinds = new Set(options.flatMap((each) => [...kindsOf(each as Schema, root, seen)]));
    found = found.filter((kind) => kinds.has(kind));
  }
  const made = new Set(found.includes('number') ? [...found, 'integer'] : found);
  seen.set(whole, made);
  return made;
}

export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function fieldOf(schema: Schema, name: string, root: Schema, isClosed: boolean): Schema | null {
  const whole = resolved(schema, root);
  if (typeof whole === 'boolean') return true;
  for (const word of CHOICES) {
    const options = whole[word];
    if (!Array.isArray(options)) continue;
    const known = options
      .map((each) => fieldOf(each as Schema, name, root, isClosed))
      .filter((each) => each !== null);
    return known.length > 0 ? { anyOf: known } : null;
  }
  if (!kindsOf(whole, root).has('object')) return null;
  const fields = (whole.properties ?? {}) as Record<string, Schema>;
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (field !== undefined) return field;
  const further = whole.additionalProperties ?? !(isClosed && Object.keys(fields).length > 0);
  return further === false ? null : (further as Schema);
}

function resolved(schema: Schema, root: Schema): Schema {
  let next = schema;
  for (let step = 0; step < 20; step += 1) {
    if (typeof next === 'boolean' || typeof next !== 'object') return true;
    const { $ref: reference } = next;
    if (typeof reference !== 'string' || !reference.startsWith('#/')) return next;
    next = referred(reference, root);
  }
  return true;
}

function referred(reference: string, root: Schema): Schema {
  let found: unknown = root;
  for (const part of reference.slice(2).split('/')) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    const isObject = typeof found === 'object' && found !== null && Object.hasOwn(found, name);
    if (!isObject) return true;
    found = (found as Record<string, unknown>)[name];
  }
  return found as Schema;
}
