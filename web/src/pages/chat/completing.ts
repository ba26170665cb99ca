/** Completes `@` to datasets and, at the very beginning, `/` to recipes. */

export interface Option {
  label: string;
  detail: string;
  /** What takes the place of the typed word; nothing for a recipe, which opens its form. */
  text: string;
  recipe?: string;
}

export interface Completion {
  /** Where the typed word begins. */
  from: number;
  kind: 'dataset' | 'recipe';
  options: Option[];
}

interface Known {
  datasets: { name: string; rows?: number }[];
  recipes: { id: string; title: string; description: string }[];
}

const MOST = 8;
const RECIPE = /^\/([^\s/]*)$/;
const MENTION = /(?:^|[\s(])@([\p{L}\p{N}_-]*)$/u;

export function completionAt(text: string, at: number, known: Known): Completion | null {
  const before = text.slice(0, at);
  const recipe = RECIPE.exec(before);
  if (recipe) return ofRecipes(recipe[1] ?? '', known);
  const mention = MENTION.exec(before);
  return mention ? ofDatasets(mention[1] ?? '', at, known) : null;
}

function ofRecipes(typed: string, { recipes }: Known): Completion | null {
  const wanted = typed.toLowerCase();
  const options = recipes
    .filter(({ id, title }) => id.includes(wanted) || title.toLowerCase().includes(wanted))
    .slice(0, MOST)
    .map(({ id, title, description }) => ({
      ...{ label: `/${id}`, detail: description || title, text: '', recipe: id },
    }));
  return options.length > 0 ? { from: 0, kind: 'recipe', options } : null;
}

function ofDatasets(typed: string, at: number, { datasets }: Known): Completion | null {
  const wanted = typed.toLowerCase();
  const fitting = datasets.filter(({ name }) => name.toLowerCase().includes(wanted));
  fitting.sort((a, b) => rank(a.name, wanted) - rank(b.name, wanted));
  const options = fitting
    .slice(0, MOST)
    .map(({ name }) => ({ label: name, detail: 'dataset', text: `@${name} ` }));
  return options.length > 0 ? { from: at - typed.length - 1, kind: 'dataset', options } : null;
}

const rank = (name: string, wanted: string) => (name.toLowerCase().startsWith(wanted) ? 0 : 1);

/** Datasets that a message names with `@`. */
export function mentionsIn(text: string, names: string[]): string[] {
  const longestFirst = [...names].sort((a, b) => b.length - a.length);
  const found = new Set<string>();
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    const rest = text.slice(at + 1);
    const name = longestFirst.find(
      (one) => rest.startsWith(one) && !/^[\p{L}\p{N}_]/u.test(rest.slice(one.length)),
    );
    if (name !== undefined) found.add(name);
  }
  return [...found];
}

const FAST = /^\s*(SQL|PLAN|PYTHON)\s*:/i;

/** A message that is a query, and runs without planning. */
export function queryKind(text: string): string | null {
  return FAST.exec(text)?.[1]?.toUpperCase() ?? null;
}
