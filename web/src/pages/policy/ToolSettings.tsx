/** What each tool is allowed in this project, such as hosts and servers, as JSON per tool. */
import { t } from '@lingui/core/macro';
import { Button, Group, Select, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { policySettingsQuery, useChangePolicySettings } from '@/api/policy';
import type { PolicySettings } from '@/api/run-types';
import { toolsQuery } from '@/api/tools';
import { useMay, useProject } from '@/app/project';
import { CodeField, type CodeProblem } from '@/components/CodeField';
import { FormError } from '@/components/FormError';
import { offerUndo, whenDone } from '@/components/undo';

/** Examples of what the tools that reach outside want to be told. */
const EXAMPLES: Record<string, unknown> = {
  http_request: { allow: ['api.example.com'] },
  send_email: {
    host: 'smtp.example.com',
    port: 587,
    sender: 'steward@example.com',
    allow_domains: ['example.com'],
  },
  send_slack: { webhook_secret: 'SLACK_WEBHOOK' },
  send_webhook: {
    endpoints: { orders: { url: 'https://example.com/hooks', secret: 'WEBHOOK_KEY' } },
  },
};

export function ToolSettings() {
  const project = useProject();
  const settings = useQuery(policySettingsQuery(project.id)).data;
  const tools = useQuery(toolsQuery(project.id)).data ?? [];
  const [chosen, setChosen] = useState<string | null>(null);
  if (!settings) return null;
  const outward = tools.filter(({ effects }) => effects.includes('network'));
  const name = chosen ?? Object.keys(settings.tools)[0] ?? outward[0]?.name ?? null;
  const has = (tool: string) => (tool in settings.tools ? t` · set` : '');
  return (
    <Stack maw="44rem">
      <Text size="sm" c="dimmed">
        {t`Tools that reach outside are off until it is said here what they may reach.`}
      </Text>
      <Select
        label={t`Tool`}
        data={[
          {
            group: t`Reach outside`,
            items: outward.map(({ name: value, title }) => ({
              value,
              label: title + has(value),
            })),
          },
          {
            group: t`Others`,
            items: tools
              .filter((tool) => !outward.includes(tool))
              .map(({ name: value, title }) => ({ value, label: title + has(value) })),
          },
        ]}
        value={name}
        searchable
        allowDeselect={false}
        onChange={setChosen}
      />
      {name !== null && (
        <OneTool key={`${name}:${settings.revision}`} name={name} settings={settings} />
      )}
    </Stack>
  );
}

function parsed(text: string): { value: unknown; problems: CodeProblem[] } {
  if (text.trim() === '') return { value: undefined, problems: [] };
  try {
    return { value: JSON.parse(text), problems: [] };
  } catch (error) {
    const problem = { place: t`Not JSON yet`, message: (error as Error).message };
    return { value: undefined, problems: [problem] };
  }
}

function OneTool({ name, settings }: { name: string; settings: PolicySettings }) {
  const project = useProject();
  const mayChange = useMay('admin');
  const change = useChangePolicySettings(project.id);
  const stored = settings.tools[name];
  const initial = stored === undefined ? '' : JSON.stringify(stored, null, 2);
  const [text, setText] = useState(initial);
  const { value, problems } = parsed(text);
  const example = EXAMPLES[name];
  const save = () => {
    const { [name]: _before, ...others } = settings.tools;
    const tools = value === undefined ? others : { ...others, [name]: value };
    whenDone(change.mutateAsync({ tools, revision: settings.revision }), ({ revision }) =>
      offerUndo({
        message: t`Settings of ${name} saved`,
        undo: () => change.mutateAsync({ tools: settings.tools, revision }),
        undone: t`Settings are as before`,
      }),
    );
  };
  return (
    <>
      <CodeField
        label={t`Settings of ${name} (JSON)`}
        value={text}
        onChange={setText}
        problems={problems}
        fine={t`It can be saved.`}
        readOnly={!mayChange}
        minRows={6}
      />
      {text === '' && example !== undefined && mayChange && (
        <Group>
          <Button
            variant="subtle"
            size="compact-sm"
            onClick={() => setText(JSON.stringify(example, null, 2))}
          >
            {t`Begin with an example`}
          </Button>
        </Group>
      )}
      <FormError error={change.error} />
      {mayChange && (
        <Group gap="xs">
          <Button
            disabled={problems.length > 0 || text === initial}
            loading={change.isPending}
            onClick={save}
          >
            {t`Save`}
          </Button>
        </Group>
      )}
    </>
  );
}
