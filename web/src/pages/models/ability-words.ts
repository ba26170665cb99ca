/** What is known about a model's server, in words. */
import type { Model } from '@/api/models';

const WAYS = {
  json_schema: 'keeps to a JSON Schema',
  json_object_schema: 'keeps to a JSON Schema',
  json_object: 'writes JSON, without a schema',
  text: 'writes JSON when asked in words',
} as const;

export function abilityWords({ abilities }: Model): string {
  const { way, tools, parallel, context, stages } = abilities;
  const known = [
    way && WAYS[way],
    tools !== null && (tools ? 'calls tools' : 'writes its calls of tools as text'),
    parallel === false && 'answers one request at a time',
    context !== null && `reads ${context.toLocaleString('en')} tokens at once`,
  ].filter((words): words is string => typeof words === 'string');
  const plans = stages ? 'Plans are asked for in short stages.' : 'Plans are asked for at once.';
  return known.length === 0 ? `Not tested yet. ${plans}` : `It ${known.join(', ')}. ${plans}`;
}
