/** What would be decided about a call, and by which rule. */
import { t } from '@lingui/core/macro';
import { Alert, Button, Group, Select, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { insideSentence } from '@/language';
import { itemsOf } from '@/api/lists';
import { membersQuery } from '@/api/members';
import { checkPolicy } from '@/api/policy';
import type { Explanation } from '@/api/run-types';
import { toolsQuery } from '@/api/tools';
import { useProject } from '@/app/project';
import { RuleList } from '@/components/CallFacts';
import { FormError } from '@/components/FormError';
import { riskWord } from '@/components/RiskChip';
import { outcomeWord } from './preset-words';

const COLOURS: Record<string, string> = {
  allow: 'steward',
  dry_run: 'steward',
  ask: 'yellow',
  deny: 'red',
};

export function Explainer() {
  const project = useProject();
  const tools = useQuery(toolsQuery(project.id)).data ?? [];
  const members = itemsOf(useInfiniteQuery(membersQuery(project.id)).data);
  const [tool, setTool] = useState<string | null>(null);
  const [user, setUser] = useState<string | null>(null);
  const [destination, setDestination] = useState('');
  const [branch, setBranch] = useState('main');
  const [untrusted, setUntrusted] = useState(false);
  const [hasRead, setHasRead] = useState(false);
  const check = useMutation({
    mutationFn: (name: string) =>
      checkPolicy(project.id, {
        tool: name,
        user_id: user,
        destination: destination.trim() || null,
        branch: branch.trim() || 'main',
        untrusted_arguments: untrusted,
        read_untrusted: hasRead,
      }) as Promise<Explanation>,
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (tool !== null) check.mutate(tool);
  };
  return (
    <Stack maw="44rem">
      <form onSubmit={submit} noValidate>
        <Stack gap="sm">
          <Select
            label={t`Tool`}
            placeholder={t`Choose a tool`}
            data={tools.map(({ name, title, risk }) => ({
              value: name,
              label: `${title} · ${insideSentence(riskWord(risk))}`,
            }))}
            value={tool}
            searchable
            onChange={setTool}
          />
          <Group grow align="flex-start">
            <Select
              label={t`On behalf of`}
              placeholder={t`You`}
              data={members.map(({ user_id, name }) => ({ value: user_id, label: name }))}
              value={user}
              clearable
              clearButtonProps={{ 'aria-label': t`You` }}
              onChange={setUser}
            />
            <TextInput
              label={t`Branch`}
              value={branch}
              onChange={({ currentTarget }) => setBranch(currentTarget.value)}
            />
          </Group>
          <TextInput
            label={t`Destination`}
            description={t`Where it sends to, such as an address or host.`}
            value={destination}
            onChange={({ currentTarget }) => setDestination(currentTarget.value)}
          />
          <Switch
            label={t`Its arguments follow from untrusted content`}
            checked={untrusted}
            onChange={({ currentTarget }) => setUntrusted(currentTarget.checked)}
          />
          <Switch
            label={t`The run has read untrusted content before`}
            checked={hasRead}
            onChange={({ currentTarget }) => setHasRead(currentTarget.checked)}
          />
          <FormError error={check.error} />
          <Group>
            <Button type="submit" disabled={tool === null} loading={check.isPending}>
              {t`Explain`}
            </Button>
          </Group>
        </Stack>
      </form>
      {check.data && <Answer found={check.data} />}
    </Stack>
  );
}

function Answer({ found }: { found: Explanation }) {
  const word = outcomeWord(found.outcome);
  return (
    <Alert
      role="status"
      variant="light"
      color={COLOURS[found.outcome] ?? 'gray'}
      title={word.charAt(0).toUpperCase() + word.slice(1)}
    >
      <Stack gap="xs">
        <Text size="sm" style={{ whiteSpace: 'pre-wrap' }}>
          {found.explanation || found.reason}
        </Text>
        <RuleList rules={found.rules} />
        {found.approvers.length > 0 && (
          <Text size="sm">{t`Somebody of: ${found.approvers.join(', ')}`}</Text>
        )}
        {found.four_eyes && <Text size="sm">{t`Someone other than the person who asked`}</Text>}
        {found.errors.length > 0 && <Text size="sm">{found.errors.join(' ')}</Text>}
      </Stack>
    </Alert>
  );
}
