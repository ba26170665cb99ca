/** The decision dossier: what was planned, tried, approved and found, and what came of it. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Alert, Anchor, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { type Dossier, dossierQuery } from '@/api/evaluations';
import { usePersonName } from '@/api/members';
import type { RunDetail, RunStatus } from '@/api/run-types';
import { useProject } from '@/app/project';
import { StateChip, StatusChip } from '@/components/Chip';
import { ErrorState } from '@/components/ErrorState';
import { useFormats } from '@/components/format';
import { RelativeTime } from '@/components/Moment';
import { Section } from '@/components/Section';
import classes from './dossier.module.css';
import { OUTCOMES } from './outcomes';
import { amountText } from './RunState';

export default function DossierTab({ run }: { run: RunDetail }) {
  const project = useProject();
  const query = useQuery(dossierQuery(project.id, run.id));
  if (query.isError && !query.data) {
    return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  }
  if (!query.data) return <Skeleton height={160} />;
  return <Shown dossier={query.data} address={addressOf(project.id, run.id)} />;
}

function addressOf(projectId: string, runId: string): string {
  const [project, run] = [projectId, runId].map(encodeURIComponent);
  return `/api/v1/projects/${project}/runs/${run}/dossier`;
}

function Shown({ dossier, address }: { dossier: Dossier; address: string }) {
  const nameOf = usePersonName(useProject().id);
  const formats = useFormats();
  const { outcome, cost } = dossier;
  return (
    <Stack gap="xl">
      <Section
        title={t`Outcome`}
        description={t`All of this is read from the journal alone.`}
        actions={
          <Anchor href={address} download="dossier.json" size="sm" flex="none">
            {t`Download as JSON`}
          </Anchor>
        }
      >
        {dossier.asked !== null && <Text size="sm">{t`Asked: ${dossier.asked}`}</Text>}
        <Text size="sm" component="div">
          <StatusChip status={outcome.status as RunStatus} />
          {dossier.adherence !== null &&
            t` · kept to the plan ${Math.round(dossier.adherence * 100)} %`}
          {t` · ${amountText('usd', cost.usd, formats)} · ${formats.number(cost.tokens)} tokens`}
        </Text>
        {outcome.error && (
          <Alert color="red" variant="light">
            {outcome.error.message}
          </Alert>
        )}
        {dossier.answer !== null && (
          <blockquote className={classes.answer}>{dossier.answer}</blockquote>
        )}
      </Section>
      {dossier.plans.map((plan) => (
        <PlanSection key={plan.branch} plan={plan} nameOf={nameOf} />
      ))}
      <List title={t`What was tried`} items={dossier.tried.map(triedItem)} />
      <List title={t`Evidence`} items={dossier.evidence.map(evidenceItem)} />
      <List
        title={t`Approvals`}
        items={dossier.approvals.map(({ call, tool, decision, by, at }) => ({
          key: `${call} ${at}`,
          shown: (
            <>
              {tool}: {decision ?? t`not decided`}
              {by !== undefined && t` by ${nameOf(by) ?? by}`}, <RelativeTime value={at} />
            </>
          ),
        }))}
      />
      <List
        title={t`Deviations from the plan`}
        items={dossier.deviations.map(({ step, kind, tool, why }, index) => ({
          key: `${step} ${index}`,
          shown: tool ? t`${step}: ${kind} of ${tool}. ${why}` : `${step}: ${kind}. ${why}`,
        }))}
      />
      <List
        title={t`Figures`}
        items={dossier.figures.map(({ text, source }) => ({
          key: text,
          shown: source === null ? t`${text}: no result holds it` : t`${text}: from ${source}`,
        }))}
      />
    </Stack>
  );
}

interface PlanProps {
  plan: Dossier['plans'][number];
  nameOf: (id: string) => string | null | undefined;
}

function PlanSection({ plan: planned, nameOf }: PlanProps) {
  const { branch, made_by, model, plan, problems, reviews, failed } = planned;
  const by = model === null ? made_by : `${made_by} (${model})`;
  return (
    <Section
      title={branch === 1 ? t`Plan` : t`Plan ${branch}`}
      description={
        planned.repaired
          ? t`${plan.goal}. Made by ${by}, repaired once.`
          : t`${plan.goal}. Made by ${by}.`
      }
    >
      <ol className={classes.list}>
        {plan.steps.map(({ id, title, agent, tools, fallback_tools, reason }) => (
          <li key={id}>
            {title}{' '}
            <Text span size="xs" c="dimmed">
              {t`${agent} with ${tools.join(', ') || t`no tools`}`}
              {fallback_tools.length > 0 && t`, else ${fallback_tools.join(', ')}`}
            </Text>
            {reason !== '' && (
              <Text size="xs" c="dimmed">
                {reason}
              </Text>
            )}
          </li>
        ))}
      </ol>
      {problems.map((problem) => (
        <Text key={problem} size="sm">
          {t`Not valid at first: ${problem}`}
        </Text>
      ))}
      {reviews.map(({ at, decision, by: who }) => (
        <Text key={at} size="sm">
          <Trans>
            Reviewed: {decision ?? t`no decision`}
            {who !== null && t` by ${nameOf(who) ?? who}`}, <RelativeTime value={at} />
          </Trans>
        </Text>
      ))}
      {failed && <Text size="sm">{t`It failed: ${failed.message}`}</Text>}
    </Section>
  );
}

interface Item {
  key: string;
  shown: ReactNode;
}

function List({ title, items }: { title: string; items: Item[] }) {
  if (items.length === 0) return null;
  return (
    <Section title={title}>
      <ul className={classes.list}>
        {items.map(({ key, shown }) => (
          <li key={key}>{shown}</li>
        ))}
      </ul>
    </Section>
  );
}

function triedItem({ call, tool, decision, state, error, undone }: Dossier['tried'][number]): Item {
  return {
    key: call,
    shown: (
      <>
        <StateChip state={undone ? 'undone' : state} /> {tool}{' '}
        <Text span size="xs" c="dimmed">
          {call}
          {decision && ` · ${OUTCOMES[decision.outcome] ?? decision.outcome}: ${decision.reason}`}
        </Text>
        {error && <Text size="sm">{error.message}</Text>}
      </>
    ),
  };
}

function evidenceItem(found: Dossier['evidence'][number]): Item {
  const more = [
    ...(found.rows === null ? [] : [t`${found.rows} rows`]),
    ...found.commits.map((commit) => t`commit ${commit}`),
    ...found.artifacts.map(({ name }) => name),
  ];
  return {
    key: found.call,
    shown: (
      <>
        {found.summary || found.tool}{' '}
        <Text span size="xs" c="dimmed">
          {[found.call, ...more].join(' · ')}
        </Text>
      </>
    ),
  };
}
