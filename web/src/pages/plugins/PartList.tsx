/** What a plug-in adds, each part with where its code runs. */
import { t } from '@lingui/core/macro';
import { Code, Text } from '@mantine/core';
import { Box, ShieldAlert } from 'lucide-react';
import type { PluginPart } from '@/api/plugins';
import { Chip } from '@/components/Chip';
import classes from './plugins.module.css';

export function PartList({ parts, withText = false }: { parts: PluginPart[]; withText?: boolean }) {
  return (
    <ul className={classes.parts}>
      {parts.map((part) => (
        <li key={`${part.kind} ${part.name}`}>
          <Text size="sm" component="div">
            {KINDS[part.kind] ?? part.kind} <Code>{part.name}</Code>
          </Text>
          <RunsChip runs={part.runs} />
          {withText && part.title !== '' && (
            <Text size="sm" c="dimmed" className={classes.text}>
              {part.title}. {part.description}
            </Text>
          )}
        </li>
      ))}
    </ul>
  );
}

const KINDS: Record<string, string> = {
  sandboxed_tool: t`Tool`,
  tool: t`Tool`,
  node: t`Node`,
  trigger: t`Trigger`,
  connector: t`Kind of connection`,
  guardrail: t`Guardrail`,
  agent: t`Agent`,
};

function RunsChip({ runs }: { runs: PluginPart['runs'] }) {
  return runs === 'sandbox' ? (
    <Chip word={t`runs in the sandbox`} icon={Box} tone="good" />
  ) : (
    <Chip word={t`runs with the server’s rights`} icon={ShieldAlert} tone="wait" />
  );
}
