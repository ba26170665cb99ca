/** The network policy: which places may be called for the project, and for every project of its organisation. */
import { t } from '@lingui/core/macro';
import {
  Alert,
  Button,
  Group,
  NumberInput,
  Radio,
  Skeleton,
  Stack,
  Switch,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import {
  type NetworkLevel,
  type NetworkPolicy,
  type NetworkRules,
  networkQuery,
  useSaveNetwork,
  useTryNetwork,
  useUndoNetwork,
} from '@/api/network';
import { projectPath, useProject } from '@/app/project';
import { ErrorState } from '@/components/ErrorState';
import { FormError } from '@/components/FormError';
import { Page } from '@/components/Page';
import { Section } from '@/components/Section';
import { offerUndo } from '@/components/undo';

const TEXTS: Record<NetworkLevel, { title: string; description: string }> = {
  project: {
    title: t`This project`,
    description: t`Project admins change these rules. Every call of the project must keep them.`,
  },
  organisation: {
    title: t`Organisation`,
    description: t`Owners of the organisation change these rules. They count in every project, whatever its own rules allow.`,
  },
};

export default function NetworkPage() {
  const project = useProject();
  return (
    <Page
      title={t`Network`}
      width="narrow"
      parent={{ label: t`Settings`, to: projectPath(project.id, 'settings') }}
      description={t`Which places connections, tools, triggers, models and MCP servers may call.`}
    >
      <Level level="project" />
      <Level level="organisation" />
    </Page>
  );
}

function Level({ level }: { level: NetworkLevel }) {
  const project = useProject();
  const query = useQuery(networkQuery(project.id, level));
  const { title, description } = TEXTS[level];
  return (
    <Section title={title} framed description={description}>
      {query.isPending ? (
        <Skeleton height={200} aria-busy />
      ) : query.isError ? (
        <ErrorState error={query.error} retry={() => void query.refetch()} />
      ) : (
        <Rules key={query.data.revision} level={level} current={query.data} />
      )}
    </Section>
  );
}

const lines = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

function Rules({ level, current }: { level: NetworkLevel; current: NetworkPolicy }) {
  const project = useProject();
  const save = useSaveNetwork(project.id, level);
  const undo = useUndoNetwork(project.id);
  const [only, setOnly] = useState(current.allow !== null);
  const [allow, setAllow] = useState((current.allow ?? []).join('\n'));
  const [deny, setDeny] = useState(current.deny.join('\n'));
  const [programs, setPrograms] = useState(current.programs);
  const rules: NetworkRules = { allow: only ? lines(allow) : null, deny: lines(deny), programs };
  const { revision, may_change: mayChange } = current;
  const before = { allow: current.allow, deny: current.deny, programs: current.programs };
  const isChanged = JSON.stringify(rules) !== JSON.stringify(before);
  return (
    <Stack>
      <Radio.Group
        label={t`Which places may be called?`}
        value={only ? 'only' : 'all'}
        onChange={(value) => {
          setOnly(value === 'only');
        }}
      >
        <Stack gap="xs" mt="xs">
          <Radio
            value="all"
            label={t`All places, except those denied below`}
            disabled={!mayChange}
          />
          <Radio value="only" label={t`Only the places listed here`} disabled={!mayChange} />
        </Stack>
      </Radio.Group>
      {only && (
        <Textarea
          label={t`Allowed`}
          description={t`One rule a line: a host, an address or a network, and ports where you want. Without a line, nothing may be called.`}
          placeholder={t`api.example.com
*.example.com:443
10.0.0.0/8:5432`}
          autosize
          minRows={3}
          maxRows={12}
          disabled={!mayChange}
          value={allow}
          onChange={(event) => {
            setAllow(event.currentTarget.value);
          }}
        />
      )}
      <Textarea
        label={t`Denied`}
        description={t`Denied places cannot be called, even where a rule allows them. “private” means every address that is not public.`}
        placeholder={t`*.example.net
private
*:25`}
        autosize
        minRows={3}
        maxRows={12}
        disabled={!mayChange}
        value={deny}
        onChange={(event) => {
          setDeny(event.currentTarget.value);
        }}
      />
      <Switch
        label={t`Connections may start programs in spite of these rules`}
        description={t`A program on this machine, such as a local MCP server, calls any place it likes.`}
        disabled={!mayChange}
        checked={programs}
        onChange={(event) => {
          setPrograms(event.currentTarget.checked);
        }}
      />
      <Try level={level} rules={rules} />
      <FormError error={save.error} />
      {mayChange ? (
        <Group>
          <Button
            loading={save.isPending}
            disabled={!isChanged}
            onClick={() => {
              void save.mutateAsync({ rules, revision }).then(
                ({ run_id }) => {
                  offerUndo({
                    message: t`Network policy saved`,
                    undone: t`The rules are as before`,
                    undo: () => undo.mutateAsync(run_id),
                  });
                },
                () => undefined,
              );
            }}
          >
            {t`Save`}
          </Button>
        </Group>
      ) : (
        <Text size="sm" c="dimmed">
          {t`Ask an owner of the organisation to change these rules.`}
        </Text>
      )}
    </Stack>
  );
}

function Try({ level, rules }: { level: NetworkLevel; rules: NetworkRules }) {
  const project = useProject();
  const trial = useTryNetwork(project.id, level);
  const [host, setHost] = useState('');
  const [port, setPort] = useState(443);
  return (
    <Stack gap="xs">
      <Group align="flex-end" gap="sm">
        <TextInput
          label={t`Try a host or an address`}
          placeholder="api.example.com"
          flex="1 1 12rem"
          value={host}
          onChange={(event) => {
            trial.reset();
            setHost(event.currentTarget.value);
          }}
        />
        <NumberInput
          label={t`Port`}
          w={110}
          min={1}
          max={65_535}
          allowDecimal={false}
          value={port}
          onChange={(value) => {
            trial.reset();
            setPort(typeof value === 'number' ? value : 443);
          }}
        />
        <Button
          variant="default"
          disabled={!host.trim()}
          loading={trial.isPending}
          onClick={() => {
            trial.mutate({ rules, host: host.trim(), port });
          }}
        >
          {t`Try`}
        </Button>
      </Group>
      <FormError error={trial.error} />
      {trial.data && (
        <Alert color={trial.data.allowed ? 'green' : 'red'} role="status">
          {trial.data.allowed ? t`These rules let Steward call this place.` : trial.data.reason}
        </Alert>
      )}
    </Stack>
  );
}
