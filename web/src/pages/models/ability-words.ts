/** What is known about a model's server, in words. */
import { t } from '@lingui/core/macro';
import type { Model } from '@/api/models';

const WAYS = {
  json_schema: t`keeps to a JSON Schema`,
  json_object_schema: t`keeps to a JSON Schema`,
  json_object: t`writes JSON, without a schema`,
  text: t`writes JSON when asked in words`,
} as const;

export function abilityWords({ abilities }: Model): string {
  const { way, tools, parallel, context, stages } = abilities;
  const known = [
    way && WAYS[way],
    tools !== null && (tools ? t`calls tools` : t`writes its calls of tools as text`),
    parallel === false && t`answers one request at a time`,
    context !== null && t`reads ${context.toLocaleString('en')} tokens at once`,
  ].filter((words): words is string => typeof words === 'string');
  const plans = stages ? t`Plans are asked for in short stages.` : t`Plans are asked for at once.`;
  return known.length === 0 ? t`Not tested yet. ${plans}` : t`It ${known.join(', ')}. ${plans}`;
}
