/** Questions that the datasets of a project can answer, made from their columns. */
import type { Suggestion } from '@/api/chat-types';

interface Table {
  name: string;
  columns: { name: string; type: string }[];
}

const NUMBER = /INT|DECIMAL|DOUBLE|FLOAT|NUMERIC|REAL/i;
const DATE = /DATE|TIMESTAMP/i;
const KEY = /(^|_)(id|no|nr|number|key|code|zip|postcode|phone|year)$/i;
const CATEGORY =
  /(country|city|state|region|category|type|status|segment|currency|product|channel)/i;
/** What is averaged where others are summed. */
const MEAN = /(rating|score|satisfaction|rate|price|age|share|percent|duration|hours|days)/i;
const MOST = 4;

const words = (name: string) => name.replaceAll('_', ' ');

/** One for each dataset, as different as the columns allow. */
export function examplesOf(tables: Table[]): Suggestion[] {
  return tables.slice(0, MOST).map((table, index) => exampleOf(table, index));
}

function exampleOf({ name, columns }: Table, index: number): Suggestion {
  const measure = columns.find(({ name: column, type }) => NUMBER.test(type) && !KEY.test(column));
  const group = columns.find(({ name: column }) => CATEGORY.test(column));
  const date = columns.find(({ type }) => DATE.test(type));
  const how = measure && MEAN.test(measure.name) ? 'average' : 'total';
  if (measure && group) {
    return ask(`${how} ${words(measure.name)} by ${words(group.name)} in ${name}`);
  }
  if (measure && date) return ask(`${how} ${words(measure.name)} by month in ${name}`);
  if (group && index % 2 === 0) return ask(`how many ${words(name)} by ${words(group.name)}`);
  return ask(`profile ${name}`);
}

function ask(text: string): Suggestion {
  const message = text.charAt(0).toUpperCase() + text.slice(1);
  return { title: message, message };
}
