/** Requires two-step sign-in of everyone in the organisation who signs in with a password. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Button, List, Skeleton, Stack, Text } from '@mantine/core';
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf } from '@/api/client';
import { projectKey } from '@/api/keys';
import { projectPath, useProject } from '@/app/project';
import { ErrorState } from '@/components/ErrorState';
import { FormError } from '@/components/FormError';
import { FormattedDate } from '@/components/Moment';
import { Page } from '@/components/Page';
import { Section } from '@/components/Section';
import { showDone } from '@/components/undo';

const PATH = '/api/v1/projects/{project_id}/second-step';

function ruleQuery(projectId: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'second-step'),
    queryFn: ({ signal }) =>
      bodyOf(api.GET(PATH, { params: { path: { project_id: projectId } }, signal })),
  });
}

export default function SecondStepPage() {
  const project = useProject();
  const query = useQuery(ruleQuery(project.id));
  return (
    <Page
      title={t`Two-step sign-in`}
      width="narrow"
      parent={{ label: t`Settings`, to: projectPath(project.id, 'settings') }}
      description={t`Whether a password alone is enough to sign in. For all projects of the organisation.`}
    >
      {query.isPending ? (
        <Skeleton height={160} aria-busy />
      ) : query.isError ? (
        <ErrorState error={query.error} retry={() => void query.refetch()} />
      ) : (
        <>
          <Rule since={query.data.since} />
          <Section title={t`People without a second step`} framed>
            {query.data.without.length === 0 ? (
              <Text size="sm">{t`Everyone who signs in with a password has a second step.`}</Text>
            ) : (
              <List size="sm">
                {query.data.without.map(({ email, name }) => (
                  <List.Item key={email}>
                    {name} ({email})
                  </List.Item>
                ))}
              </List>
            )}
          </Section>
        </>
      )}
    </Page>
  );
}

function Rule({ since }: { since: string | null }) {
  const { id } = useProject();
  const client = useQueryClient();
  const change = useMutation({
    mutationFn: (required: boolean) =>
      bodyOf(api.PUT(PATH, { params: { path: { project_id: id } }, body: { required } })),
    onSuccess: (saved) => {
      client.setQueryData(ruleQuery(id).queryKey, saved);
      showDone(saved.since ? t`Two-step sign-in is required` : t`A password is enough`);
    },
  });
  return (
    <Section title={t`Rule`} framed>
      <Stack align="flex-start">
        <Text size="sm">
          {since === null ? (
            t`Not required. People can set it up in their profile. If you require it, people without it are asked to set it up at once and can do nothing else before. People who sign in with a provider and API tokens are not affected.`
          ) : (
            <>
              <Trans>
                Required since <FormattedDate value={since} />. People without it can only set it
                up.
              </Trans>
            </>
          )}
        </Text>
        <FormError error={change.error} />
        <Button
          variant={since === null ? 'filled' : 'default'}
          loading={change.isPending}
          onClick={() => change.mutate(since === null)}
        >
          {since === null ? t`Require two-step sign-in` : t`Stop requiring it`}
        </Button>
      </Stack>
    </Section>
  );
}
