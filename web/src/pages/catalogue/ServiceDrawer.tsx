/** An installed service: how to connect to it, what it offers, and what an update would change. */
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
        {service.operations.toLocaleString('en')} operations ·{' '}
        {service.licence || 'no licence named'} · SHA-256 <Code fz="xs">{service.sha256}</Code>
      </Text>
      {service.hosts.length > 0 && (
        <Text size="xs" c="dimmed" className={classes.hash}>
          Calls go to {service.hosts.slice(0, 5).join(', ')}
          {service.hosts.length > 5 ? ` and ${service.hosts.length - 5} more` : ''}.
        </Text>
      )}
      {service.left_out.length > 0 && (
        <Alert
          color="yellow"
          variant="light"
          title={`${service.left_out.length} ${service.left_out.length === 1 ? 'operation' : 'operations'} left out`}
        >
          {service.left_out
            .slice(0, 3)
            .map(({ operation, reason }) => `${operation}: ${reason}`)
            .join('; ')}
          {service.left_out.length > 3 && ` and ${service.left_out.length - 3} more`}
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
              Calls and errors of {name}
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
                ? 'Not connected yet.'
                : `Connected as ${service.connections.join(', ')}.`}
            </Text>
            <Button size="compact-sm" variant="default" onClick={() => setConnecting(true)}>
              Add a connection
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
          showDone(`${service.title} updated`);
          compare.reset();
        },
        onError: showFailure,
      },
    );
  if (found?.is_same) {
    return (
      <Text size="sm" c="dimmed">
        The description has not changed.
      </Text>
    );
  }
  if (found) {
    const parts = [
      ['Added', found.added],
      ['Removed', found.removed],
      ['Changed', found.changed],
      ['Riskier', found.riskier],
      ['New addresses', found.hosts_added],
    ] as const;
    return (
      <Alert color="blue" variant="light" title="What the update changes">
        <Stack gap={4} align="flex-start">
          {parts
            .filter(([, names]) => names.length > 0)
            .map(([word, names]) => (
              <Text key={word} size="sm">
                {word} ({names.length}): {names.slice(0, 20).join(', ')}
                {names.length > 20 ? ` and ${names.length - 20} more` : ''}
              </Text>
            ))}
          <Button size="compact-sm" loading={update.isPending} onClick={onUpdate}>
            Update
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
        Look for an update
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
      <SearchField label="Search operations" placeholder="What it should do" onSearch={setWords} />
      {query.isError && <ErrorState error={query.error} retry={() => void query.refetch()} />}
      {query.data?.length === 0 && (
        <Text size="sm" c="dimmed">
          No operation fits.
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
                {operation.often_used ? ' · often used' : ''}
                {operation.deprecated ? ' · deprecated' : ''}
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
              aria-label={`${opened === operation.name ? 'Close' : 'Open'} ${operation.title}`}
              onClick={() => setOpened(opened === operation.name ? null : operation.name)}
            >
              {opened === operation.name ? 'Close' : 'Open'}
            </Button>
          </li>
        ))}
      </ul>
    </Stack>
  );
}
