/** An installed service: how to connect to it, what it offers, and what an update would change. */
import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Alert, Anchor, Button, Code, Drawer, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import {
  operationsQuery,
  type ServiceDetail,
  serviceQuery,
  useCompare,
  useUpdateService,
} from '@/api/catalogue';
import { projectPath, useMay, useProject } from '@/app/project';
import { ErrorState } from '@/components/ErrorState';
import { RiskChip } from '@/components/RiskChip';
import { SearchField } from '@/components/SearchField';
import { showDone, showFailure } from '@/components/undo';
import classes from './catalogue.module.css';
import { ConnectForm } from './ConnectForm';
import { OperationCard } from './OperationCard';

export function ServiceDrawer({
  service,
  onClose,
}: {
  service: string | null;
  onClose: () => void;
}) {
  return (
    <Drawer
      opened={service !== null}
      onClose={onClose}
      position="right"
      size="lg"
      title={service ?? ''}
    >
      {service !== null && <Loaded key={service} service={service} />}
    </Drawer>
  );
}

function Loaded({ service }: { service: string }) {
  const project = useProject();
  const query = useQuery(serviceQuery(project.id, service));
  if (query.isError) return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  if (!query.data) return <Skeleton height={160} aria-busy />;
  return <Service service={query.data} />;
}

function Service({ service }: { service: ServiceDetail }) {
  const project = useProject();
  const mayManage = useMay('admin');
  const [connecting, setConnecting] = useState(service.connections.length === 0);
  return (
    <Stack gap="md">
      <div>
        <Text fw={600}>{service.title}</Text>
        {service.description !== '' && (
          <Text size="sm" className={classes.foreign}>
            {service.description}
          </Text>
        )}
      </div>
      <Text size="xs" c="dimmed" className={classes.hash}>
        <Trans>
          {service.operations.toLocaleString('en')} operations ·{' '}
          {service.licence || t`no licence named`} · SHA-256 <Code fz="xs">{service.sha256}</Code>
        </Trans>
      </Text>
      {service.hosts.length > 0 && (
        <Text size="xs" c="dimmed" className={classes.hash}>
          {service.hosts.length > 5
            ? t`Calls go to ${service.hosts.slice(0, 5).join(', ')} and ${service.hosts.length - 5} more.`
            : t`Calls go to ${service.hosts.slice(0, 5).join(', ')}.`}
        </Text>
      )}
      {service.left_out.length > 0 && (
        <Alert
          color="yellow"
          variant="light"
          title={plural(service.left_out.length, {
            one: `${service.left_out.length} operation left out`,
            other: `${service.left_out.length} operations left out`,
          })}
        >
          {service.left_out
            .slice(0, 3)
            .map(({ operation, reason }) => `${operation}: ${reason}`)
            .join('; ')}
          {service.left_out.length > 3 && t` and ${service.left_out.length - 3} more`}
        </Alert>
      )}
      {service.connections.length > 0 && (
        <Group gap="xs">
          {service.connections.map((name) => (
            <Anchor
              key={name}
              component={Link}
              size="sm"
              to={projectPath(project.id, 'overview', 'connector', encodeURIComponent(name))}
            >
              {t`Calls and errors of ${name}`}
            </Anchor>
          ))}
        </Group>
      )}
      {mayManage &&
        (connecting ? (
          <ConnectForm service={service} onConnected={() => setConnecting(false)} />
        ) : (
          <Group gap="xs">
            <Text size="sm">
              {service.connections.length === 0
                ? t`Not connected yet.`
                : t`Connected as ${service.connections.join(', ')}.`}
            </Text>
            <Button size="compact-sm" variant="default" onClick={() => setConnecting(true)}>
              {t`Add a connection`}
            </Button>
          </Group>
        ))}
      {mayManage && service.source !== 'file' && <Update service={service} />}
      <Operations service={service} />
    </Stack>
  );
}

function Update({ service }: { service: ServiceDetail }) {
  const project = useProject();
  const compare = useCompare(project.id, service.name);
  const update = useUpdateService(project.id, service.name);
  const from = service.source === 'package' ? { service: service.name } : { url: service.source };
  const found = compare.data;
  const onUpdate = () =>
    found &&
    update.mutate(
      { ...from, sha256: found.sha256 },
      {
        onSuccess: () => {
          showDone(t`${service.title} updated`);
          compare.reset();
        },
        onError: showFailure,
      },
    );
  if (found?.is_same) {
    return (
      <Text size="sm" c="dimmed">
        {t`The description has not changed.`}
      </Text>
    );
  }
  if (found) {
    const parts = [
      [t`Added`, found.added],
      [t`Removed`, found.removed],
      [t`Changed`, found.changed],
      [t`Riskier`, found.riskier],
      [t`New addresses`, found.hosts_added],
    ] as const;
    return (
      <Alert color="blue" variant="light" title={t`What the update changes`}>
        <Stack gap={4} align="flex-start">
          {parts
            .filter(([, names]) => names.length > 0)
            .map(([word, names]) => (
              <Text key={word} size="sm">
                {names.length > 20
                  ? t`${word} (${names.length}): ${names.slice(0, 20).join(', ')} and ${names.length - 20} more`
                  : `${word} (${names.length}): ${names.slice(0, 20).join(', ')}`}
              </Text>
            ))}
          <Button size="compact-sm" loading={update.isPending} onClick={onUpdate}>
            {t`Update`}
          </Button>
        </Stack>
      </Alert>
    );
  }
  return (
    <div>
      <Button
        size="compact-sm"
        variant="subtle"
        color="gray"
        loading={compare.isPending}
        onClick={() => compare.mutate(from, { onError: showFailure })}
      >
        {t`Look for an update`}
      </Button>
    </div>
  );
}

function Operations({ service }: { service: ServiceDetail }) {
  const project = useProject();
  const [words, setWords] = useState('');
  const [opened, setOpened] = useState<string | null>(null);
  const query = useQuery(operationsQuery(project.id, service.name, words));
  return (
    <Stack gap="xs">
      <SearchField
        label={t`Search operations`}
        placeholder={t`What it should do`}
        onSearch={setWords}
      />
      {query.isError && <ErrorState error={query.error} retry={() => void query.refetch()} />}
      {query.data?.length === 0 && (
        <Text size="sm" c="dimmed">
          {t`No operation fits.`}
        </Text>
      )}
      <ul className={classes.list}>
        {(query.data ?? []).map((operation) => (
          <li key={operation.name} className={classes.item}>
            <div className={classes.about}>
              <Group gap="xs">
                <Text size="sm" fw={500}>
                  {operation.title}
                </Text>
                <RiskChip risk={operation.risk} />
              </Group>
              <Text size="xs" c="dimmed" className={classes.hash}>
                {operation.verb} {operation.path}
                {operation.often_used ? t` · often used` : ''}
                {operation.deprecated ? t` · deprecated` : ''}
              </Text>
              {opened === operation.name && (
                <OperationCard service={service.name} operation={operation.name} />
              )}
            </div>
            <Button
              size="compact-sm"
              variant="subtle"
              color="gray"
              aria-expanded={opened === operation.name}
              aria-label={
                opened === operation.name ? t`Close ${operation.title}` : t`Open ${operation.title}`
              }
              onClick={() => setOpened(opened === operation.name ? null : operation.name)}
            >
              {opened === operation.name ? t`Close` : t`Open`}
            </Button>
          </li>
        ))}
      </ul>
    </Stack>
  );
}
