/** Shows which program asks for access; the person chooses a project and a role, or says no. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Alert, Anchor, Button, NativeSelect, Radio, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Info, TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import { askingQuery, type ProgramRequest, programRequest, useAllowProgram } from '@/api/programs';
import { roleAtLeast } from '@/api/roles';
import { sessionQuery } from '@/api/session';
import type { ProgramAsking, Role, Session } from '@/api/types';
import { ErrorState } from '@/components/ErrorState';
import { FormError } from '@/components/FormError';
import { VisitorPage } from '@/components/VisitorPage';

const TITLE = t`Connect a program`;
const CHOICES: { role: Role; label: string; description: string }[] = [
  { role: 'viewer', label: t`Read`, description: t`Looks at data and computes. Changes nothing.` },
  {
    role: 'operator',
    label: t`Read and act`,
    description: t`Also changes data and runs playbooks. Your policy decides about each call.`,
  },
];

export default function AllowClientPage() {
  // As the program wrote it: a state of digits must not become a number.
  const [search] = useState(() => window.location.search);
  const request = programRequest(search);
  const session = useQuery(sessionQuery);
  if (request === null) {
    return (
      <VisitorPage title={TITLE}>
        <Alert color="gray" icon={<Info size={16} aria-hidden />}>
          {t`This address is incomplete. Start again from the program.`}
        </Alert>
      </VisitorPage>
    );
  }
  if (session.isPending) return <Loading />;
  if (!session.data) {
    const back = `/allow-client${search}`;
    return (
      <VisitorPage title={TITLE}>
        <Stack>
          <Text size="sm">{t`A program asks to work with Steward in your name.`}</Text>
          <Button component="a" href={`/sign-in?next=${encodeURIComponent(back)}`} fullWidth>
            {t`Sign in to decide`}
          </Button>
        </Stack>
      </VisitorPage>
    );
  }
  return <Asked request={request} session={session.data} />;
}

function Loading() {
  return (
    <VisitorPage title={TITLE}>
      <Stack aria-busy>
        <Skeleton height={14} width="80%" />
        <Skeleton height={14} width="60%" />
        <Skeleton height={34} />
      </Stack>
    </VisitorPage>
  );
}

function Asked({ request, session }: { request: ProgramRequest; session: Session }) {
  const asking = useQuery(askingQuery(request));
  if (asking.isPending) return <Loading />;
  if (asking.isError) {
    return (
      <VisitorPage title={TITLE}>
        <ErrorState error={asking.error} retry={() => void asking.refetch()} />
      </VisitorPage>
    );
  }
  return (
    <VisitorPage title={t`Connect ${asking.data.name}?`}>
      <Decision request={request} session={session} asking={asking.data} />
    </VisitorPage>
  );
}

interface DecisionProps {
  request: ProgramRequest;
  session: Session;
  asking: ProgramAsking;
}

function Decision({ request, session, asking }: DecisionProps) {
  const allow = useAllowProgram(request);
  const projects = session.projects.filter(({ role }) => role !== 'runner');
  const [projectId, setProjectId] = useState(projects[0]?.id ?? '');
  const [wanted, setWanted] = useState<Role>('viewer');
  const project = projects.find(({ id }) => id === projectId);
  if (!project) {
    return (
      <Alert color="gray" icon={<Info size={16} aria-hidden />}>
        {t`You have no project that a program could work in. Ask an admin for the role viewer.`}
      </Alert>
    );
  }
  const choices = CHOICES.filter(({ role }) => roleAtLeast(project.role, role));
  const role = choices.some((each) => each.role === wanted) ? wanted : 'viewer';
  const yes = () =>
    allow.mutate(
      { projectId, role },
      { onSuccess: ({ redirect_to }) => window.location.assign(redirect_to) },
    );
  return (
    <Stack>
      <Origin asking={asking} />
      <NativeSelect
        label={t`Project`}
        value={projectId}
        onChange={(event) => setProjectId(event.currentTarget.value)}
        data={projects.map(({ id, name }) => ({ value: id, label: name }))}
      />
      <Radio.Group label={t`What it may do`} value={role} onChange={(value) => setWanted(value)}>
        <Stack gap="xs" mt={4}>
          {choices.map((each) => (
            <Radio
              key={each.role}
              value={each.role}
              label={each.label}
              description={each.description}
            />
          ))}
        </Stack>
      </Radio.Group>
      <Text size="sm" c="dimmed">
        {t`It acts as ${session.user.name || session.user.email} and can never do more than you. You can disconnect it under API tokens.`}
      </Text>
      <FormError error={allow.error} />
      <Button fullWidth loading={allow.isPending || allow.isSuccess} onClick={yes}>
        {t`Connect`}
      </Button>
      <Anchor href={asking.refusal} size="sm" ta="center" rel="noreferrer">
        {t`Do not connect`}
      </Anchor>
    </Stack>
  );
}

function Origin({ asking }: { asking: ProgramAsking }) {
  if (asking.documented_at) {
    return (
      <Text size="sm">
        <Trans>
          <strong>{asking.documented_at}</strong> publishes this program. The answer goes to{' '}
          <strong>{asking.host}</strong>.
        </Trans>
      </Text>
    );
  }
  if (asking.is_local) {
    return (
      <Text size="sm">
        <Trans>
          A program on this computer asks. It calls itself <strong>{asking.name}</strong>. Connect
          it only if you have just started it.
        </Trans>
      </Text>
    );
  }
  return (
    <Alert color="yellow" icon={<TriangleAlert size={16} aria-hidden />}>
      <Trans>
        The program named itself; Steward has not checked who it is. The answer goes to{' '}
        <strong>{asking.host}</strong>. Connect it only if you know this place.
      </Trans>
    </Alert>
  );
}
