/** Single sign-on: the OpenID providers of the organisation, and which groups get which roles. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Badge, Button, Code, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { KeyRound, Plus } from 'lucide-react';
import { useState } from 'react';
import { roleName } from '@/api/roles';
import { useSession } from '@/api/session';
import { providersQuery, useCheckProvider, useDeleteProvider } from '@/api/sign-on';
import type { SignOnProvider } from '@/api/types';
import { projectPath, useProject } from '@/app/project';
import { CopyField } from '@/components/CopyField';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { FormError } from '@/components/FormError';
import { Page } from '@/components/Page';
import { Section } from '@/components/Section';
import { showDone, showFailure } from '@/components/undo';
import { ProviderDialog } from './ProviderDialog';

/** `new` for one that does not exist yet. */
type Edited = SignOnProvider | 'new' | null;

export default function SignOnPage() {
  const project = useProject();
  const query = useQuery(providersQuery(project.id));
  const [edited, setEdited] = useState<Edited>(null);
  return (
    <Page
      title={t`Single sign-on`}
      parent={{ label: t`Settings`, to: projectPath(project.id, 'settings') }}
      description={t`People sign in with an OpenID provider such as Entra ID, Okta or Keycloak. Their groups decide their roles. Local accounts, and passwords of owners, keep working.`}
      actions={
        query.isSuccess && (
          <Button
            leftSection={<Plus size={14} aria-hidden />}
            onClick={() => {
              setEdited('new');
            }}
          >
            {t`Add a provider`}
          </Button>
        )
      }
    >
      {query.isPending ? (
        <Skeleton height={160} aria-busy />
      ) : query.isError ? (
        <ErrorState error={query.error} retry={() => void query.refetch()} />
      ) : query.data.items.length === 0 ? (
        <EmptyState icon={KeyRound} title={t`No providers yet`}>
          {t`Register Steward as a web application at your provider. Then add the provider here.`}
        </EmptyState>
      ) : (
        query.data.items.map((provider) => (
          <ProviderCard
            key={provider.id}
            provider={provider}
            onEdit={() => {
              setEdited(provider);
            }}
          />
        ))
      )}
      <ProviderDialog
        edited={edited}
        onClose={() => {
          setEdited(null);
        }}
      />
    </Page>
  );
}

function ProviderCard({ provider, onEdit }: { provider: SignOnProvider; onEdit: () => void }) {
  const project = useProject();
  const check = useCheckProvider(project.id);
  const byOwners = provider.source === 'organisation';
  const test = () =>
    check.mutate(provider.id, {
      onSuccess: () => {
        showDone(t`${provider.name} answers`);
      },
    });
  return (
    <Section
      title={provider.name}
      framed
      actions={
        <Group gap="xs" wrap="nowrap">
          {!provider.enabled && <Badge color="gray">{t`Off`}</Badge>}
          <Button variant="default" size="compact-sm" loading={check.isPending} onClick={test}>
            {t`Test`}
          </Button>
          {byOwners && (
            <Button variant="default" size="compact-sm" onClick={onEdit}>
              {t`Edit`}
            </Button>
          )}
        </Group>
      }
    >
      <Stack>
        <Text size="sm">
          <Trans>
            Issuer <Code>{provider.issuer}</Code>, client <Code>{provider.client_id}</Code>
          </Trans>
          {provider.has_secret ? t`, secret stored.` : t`, no secret.`}{' '}
          {provider.just_in_time
            ? t`People who match a rule get an account when they first sign in.`
            : t`New people need an invitation.`}
        </Text>
        <CopyField
          label={t`Redirect address, to enter at the provider`}
          value={provider.redirect_uri}
        />
        <CopyField
          label={t`Sign-out address, for back-channel logout`}
          value={provider.logout_uri}
        />
        <RuleList provider={provider} />
        <FormError error={check.error} />
        {byOwners ? (
          <DeleteProvider provider={provider} />
        ) : (
          <Text size="sm" c="dimmed">
            {t`This provider is set in the settings file of the installation. Change it there.`}
          </Text>
        )}
      </Stack>
    </Section>
  );
}

function RuleList({ provider }: { provider: SignOnProvider }) {
  const { projects } = useSession();
  if (provider.rules.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {t`No rules. Signing in gives no role until you add one.`}
      </Text>
    );
  }
  const nameOf = (id: string) => projects.find((each) => each.id === id)?.name ?? id;
  return (
    <Stack gap={4}>
      {provider.rules.map(({ claim, value, project_id, role }, place) => (
        <Text size="sm" key={place}>
          <Trans>
            <Code>
              {claim} = {value}
            </Code>{' '}
            gives {roleName(role)} in {nameOf(project_id)}
          </Trans>
        </Text>
      ))}
    </Stack>
  );
}

function DeleteProvider({ provider }: { provider: SignOnProvider }) {
  const project = useProject();
  const remove = useDeleteProvider(project.id);
  const [asked, setAsked] = useState(false);
  if (!asked) {
    return (
      <Group>
        <Button
          variant="subtle"
          color="red"
          size="compact-sm"
          onClick={() => {
            setAsked(true);
          }}
        >
          {t`Delete ${provider.name}`}
        </Button>
      </Group>
    );
  }
  return (
    <Group gap="xs">
      <Text size="sm">
        {t`This signs out everyone who signed in with ${provider.name}. They stay members. You cannot undo this.`}
      </Text>
      <Button
        color="red"
        size="compact-sm"
        loading={remove.isPending}
        onClick={() => {
          remove.mutate(provider.id, { onError: showFailure });
        }}
      >
        {t`Delete for good`}
      </Button>
      <Button
        variant="default"
        size="compact-sm"
        onClick={() => {
          setAsked(false);
        }}
      >
        {t`Keep`}
      </Button>
    </Group>
  );
}
