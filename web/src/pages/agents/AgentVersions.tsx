/** Versions of an agent, newest first, each with what it changed; an earlier one can be restored. */
import { t } from '@lingui/core/macro';
import { Button, Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import {
  agentDiffQuery,
  type AgentDetail,
  type AgentVersion,
  agentVersionsQuery,
  useRestoreAgent,
} from '@/api/agents';
import { useMay, useProject } from '@/app/project';
import { ErrorState } from '@/components/ErrorState';
import { useFormats } from '@/components/format';
import { showDone, showFailure } from '@/components/undo';
import { FIELDS } from './fields';
import classes from './agents.module.css';

export function AgentVersions({ agent }: { agent: AgentDetail }) {
  const project = useProject();
  const query = useQuery(agentVersionsQuery(project.id, agent.name));
  if (!query.data) {
    return query.isError ? (
      <ErrorState error={query.error} retry={() => void query.refetch()} />
    ) : (
      <Skeleton height={80} aria-busy />
    );
  }
  const newest = query.data[0]?.version ?? 0;
  return (
    <ol className={classes.history} reversed>
      {query.data.map((version) => (
        <OneVersion key={version.version} name={agent.name} version={version} newest={newest} />
      ))}
    </ol>
  );
}

interface Props {
  name: string;
  version: AgentVersion;
  newest: number;
}

function OneVersion({ name, version, newest }: Props) {
  const project = useProject();
  const formats = useFormats();
  const mayEdit = useMay('editor');
  const isCurrent = version.version === newest;
  const [opened, setOpened] = useState(isCurrent && version.version > 1);
  const restore = useRestoreAgent(project.id);
  const changed = version.changed.map((field) => FIELDS[field] ?? field).join(', ');
  return (
    <li className={classes.version}>
      <div className={classes.line}>
        <div>
          <Text size="sm" fw={600}>
            {isCurrent
              ? t`${version.version}. ${version.message || t`Changed`} (current)`
              : `${version.version}. ${version.message || t`Changed`}`}
          </Text>
          <Text size="xs" c="dimmed">
            {version.author_name ?? t`A former member`}, {formats.dateTime(version.created_at)}
            {changed !== '' && version.version > 1 && !version.archived ? ` · ${changed}` : ''}
          </Text>
        </div>
        <div className={classes.foot}>
          {version.version > 1 && (
            <Button
              size="compact-sm"
              variant="subtle"
              aria-expanded={opened}
              aria-label={
                opened
                  ? t`Hide changes of version ${version.version}`
                  : t`Show changes of version ${version.version}`
              }
              onClick={() => setOpened(!opened)}
            >
              {opened ? t`Hide changes` : t`Show changes`}
            </Button>
          )}
          {mayEdit && !isCurrent && !version.archived && (
            <Button
              size="compact-sm"
              variant="default"
              loading={restore.isPending}
              aria-label={t`Restore version ${version.version}`}
              onClick={() =>
                restore.mutate(
                  { name, version: newest, wanted: version.version },
                  {
                    onSuccess: () => showDone(t`Version ${version.version} is current again`),
                    onError: showFailure,
                  },
                )
              }
            >
              {t`Restore`}
            </Button>
          )}
        </div>
      </div>
      {opened && <VersionDiff name={name} version={version.version} />}
    </li>
  );
}

const KINDS: Record<string, string> = { '+': 'added', '-': 'removed', '@': 'place' };

function VersionDiff({ name, version }: { name: string; version: number }) {
  const project = useProject();
  const query = useQuery(agentDiffQuery(project.id, name, version - 1, version));
  if (query.isError) return <ErrorState error={query.error} />;
  if (!query.data) return <Skeleton height={60} aria-busy />;
  if (query.data.length === 0) {
    return (
      <Text size="sm" c="dimmed" mt="xs">
        {t`Nothing differs from version ${version - 1}.`}
      </Text>
    );
  }
  return query.data.map(({ field, lines }) => (
    <div key={field}>
      <Text size="xs" fw={600} mt="xs">
        {FIELDS[field] ?? field}
      </Text>
      <pre
        className={classes.diff}
        role="group"
        aria-label={t`Changes of ${FIELDS[field] ?? field}`}
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
        tabIndex={0}
      >
        {lines.map((line, index) => (
          <div key={index} data-kind={KINDS[line.charAt(0)] ?? 'same'}>
            {line || ' '}
          </div>
        ))}
      </pre>
    </div>
  ));
}
