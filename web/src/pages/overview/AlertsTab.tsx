/** Open alerts, the rules that raise them, and the history. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Anchor, Button, Group, Menu, Switch, Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { BellOff, BellPlus, BellRing, CircleCheck, Eye } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { insideSentence } from '@/language';
import {
  type AlertItem,
  alertRulesQuery,
  type AlertRules,
  alertsQuery,
  type KeptRule,
  useAcceptAsNormal,
  useAcknowledgeAlert,
  useDeleteAlertRule,
  useMuteAlert,
  useSaveAlertRule,
} from '@/api/alerts';
import { itemsOf } from '@/api/lists';
import { projectPath, useMay, useProject } from '@/app/project';
import { Chip } from '@/components/Chip';
import { MoreButton } from '@/components/DataTable';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { useFormats } from '@/components/format';
import { LoadingLines } from '@/components/LoadingLines';
import { RelativeTime } from '@/components/Moment';
import { RunLink } from '@/components/RunLink';
import { statusLook } from '@/components/run-status';
import { Section } from '@/components/Section';
import { offerUndo, showDone, showFailure } from '@/components/undo';
import { amountOf, isDrift, pageOf, RESOLVED_WORDS } from './alert-words';
import classes from './alerts.module.css';
import { detailPage } from './figure-links';
import overview from './overview.module.css';

const AlertRuleDialog = lazy(() => import('./AlertRuleDialog'));

const MOST_CHANGES = 8;

/** What the dialog edits: a rule that is there, or a new one. */
type Edited = KeptRule | 'new' | null;

export default function AlertsTab() {
  const project = useProject();
  const mayEdit = useMay('editor');
  const [edited, setEdited] = useState<Edited>(null);
  const query = useQuery(alertRulesQuery(project.id));
  const rules = query.data;
  if (query.isError && !rules)
    return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  if (!rules) return <LoadingLines />;
  const add = mayEdit && (
    <Button leftSection={<BellPlus size={14} aria-hidden />} onClick={() => setEdited('new')}>
      {t`Add a rule`}
    </Button>
  );
  return (
    <div className={overview.column}>
      <OpenAlerts hasRules={rules.items.length > 0} add={add} />
      {rules.items.length > 0 && <Rules rules={rules} add={add} onEdit={setEdited} />}
      <History />
      {edited !== null && (
        <Suspense fallback={null}>
          <AlertRuleDialog
            kept={edited === 'new' ? null : edited}
            flows={rules.flows}
            onClose={() => setEdited(null)}
          />
        </Suspense>
      )}
    </div>
  );
}

function OpenAlerts({ hasRules, add }: { hasRules: boolean; add: React.ReactNode }) {
  const project = useProject();
  const query = useInfiniteQuery(alertsQuery(project.id, 'open'));
  const alerts = itemsOf(query.data);
  if (query.isError && alerts.length === 0)
    return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  if (query.isPending) return <LoadingLines />;
  if (alerts.length === 0)
    return hasRules ? (
      <EmptyState icon={CircleCheck} title={t`No alert is open`}>
        {t`Every figure is within the limits of its rules.`}
      </EmptyState>
    ) : (
      <EmptyState icon={BellRing} title={t`No alert rules yet`} action={add}>
        {t`A rule watches a figure, such as failed runs or spend. When the figure passes its limit, Steward notifies you here, by mail, in Slack or by a webhook.`}
      </EmptyState>
    );
  return (
    <Section title={t`Open alerts`} framed>
      <ul className={classes.list} aria-label={t`Open alerts`}>
        {alerts.map((alert) => (
          <OpenAlert key={alert.id} alert={alert} />
        ))}
      </ul>
      <MoreButton query={query} />
    </Section>
  );
}

function OpenAlert({ alert }: { alert: AlertItem }) {
  const project = useProject();
  const formats = useFormats();
  const acknowledge = useAcknowledgeAlert(project.id);
  const mayAnswer = useMay('operator');
  return (
    <li className={classes.item}>
      <div className={classes.about}>
        <div className={classes.name}>
          {alert.name}
          {alert.state === 'firing' ? (
            <Chip word={t`Firing`} icon={BellRing} tone="bad" />
          ) : (
            <Chip word={t`Acknowledged`} icon={Eye} tone="wait" />
          )}
          {isMuted(alert) && <Chip word={t`Muted`} icon={BellOff} />}
        </div>
        {isDrift(alert.figure) ? (
          <Changes alert={alert} />
        ) : (
          <Text size="sm">
            <Trans>
              <AboutLink alert={alert} />: {amountOf(formats, alert.figure, alert.latest)} (limit{' '}
              {amountOf(formats, alert.figure, alert.limit)})
            </Trans>
          </Text>
        )}
        <Text size="sm" c="dimmed">
          <Trans>
            {alert.sentence}. Opened <RelativeTime value={alert.opened_at} />
            {alert.acknowledged_by !== null && t`, acknowledged by ${alert.acknowledged_by}`}
            {isMuted(alert) && t`, muted until ${formats.dateTime(alert.muted_until ?? '')}`}.
          </Trans>
        </Text>
        <Sends alert={alert} />
      </div>
      {mayAnswer && (
        <Group gap="xs">
          {alert.state === 'firing' && (
            <Button
              size="xs"
              variant="default"
              loading={acknowledge.isPending}
              aria-label={t`Acknowledge ${alert.name}`}
              onClick={() =>
                acknowledge.mutate(alert.id, {
                  onSuccess: () => showDone(t`Acknowledged`),
                  onError: showFailure,
                })
              }
            >
              {t`Acknowledge`}
            </Button>
          )}
          <MuteMenu alert={alert} />
          <NormalButton alert={alert} />
        </Group>
      )}
    </li>
  );
}

/** What the alert is about, with a link to its figures. */
function AboutLink({ alert }: { alert: AlertItem }) {
  const project = useProject();
  const { flow, flow_title, figure } = alert;
  const page = flow === null ? pageOf(figure) : detailPage('flow', flow);
  return (
    <Anchor component={Link} to={projectPath(project.id, page)} inherit>
      {flow === null ? t`Whole project` : (flow_title ?? flow)}
    </Anchor>
  );
}

/** What of an output was not as usual, and the run that gave it. */
function Changes({ alert }: { alert: AlertItem }) {
  return (
    <>
      <Text size="sm">
        <Trans>
          <AboutLink alert={alert} />: the output changed.{' '}
        </Trans>
        {alert.run_id !== null && <RunLink runId={alert.run_id} />}
      </Text>
      <ul className={classes.moments}>
        {alert.changes.slice(0, MOST_CHANGES).map((change) => (
          <li key={change}>{change}</li>
        ))}
        {alert.changes.length > MOST_CHANGES && (
          <li>{t`${alert.changes.length - MOST_CHANGES} more`}</li>
        )}
      </ul>
    </>
  );
}

/** The server does not clear what is over. */
function isMuted({ muted_until }: AlertItem): boolean {
  return muted_until !== null && Date.parse(muted_until) > Date.now();
}

function Sends({ alert }: { alert: AlertItem }) {
  if (alert.sends.length === 0) return null;
  return (
    <Text size="sm" c="dimmed" component="div">
      {alert.sends.map(({ channel, about, run_id, problem, status }) => (
        <div key={`${channel} ${about} ${run_id ?? problem ?? ''}`}>
          <Trans>
            Message by {channel}
            {about === 'resolved' && t` about the end`}:{' '}
            {run_id === null ? problem : <RunLink runId={run_id} />}
            {status && ` (${insideSentence(statusLook(status).word)})`}
          </Trans>
        </div>
      ))}
    </Text>
  );
}

const MUTES = [
  { hours: 1, label: t`For an hour` },
  { hours: 24, label: t`For a day` },
  { hours: 168, label: t`For a week` },
];

function MuteMenu({ alert }: { alert: AlertItem }) {
  const project = useProject();
  const mute = useMuteAlert(project.id);
  const set = (until: string | null) =>
    mute.mutate(
      { id: alert.id, until },
      {
        onSuccess: () => showDone(until === null ? t`No longer muted` : t`Muted`),
        onError: showFailure,
      },
    );
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button size="xs" variant="default" aria-label={t`Mute ${alert.name}`}>
          {t`Mute`}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {MUTES.map(({ hours, label }) => (
          <Menu.Item
            key={hours}
            onClick={() => set(new Date(Date.now() + hours * 3_600_000).toISOString())}
          >
            {label}
          </Menu.Item>
        ))}
        {isMuted(alert) && <Menu.Item onClick={() => set(null)}>{t`End now`}</Menu.Item>}
      </Menu.Dropdown>
    </Menu>
  );
}

function NormalButton({ alert }: { alert: AlertItem }) {
  const project = useProject();
  const accept = useAcceptAsNormal(project.id);
  const mayEdit = useMay('editor');
  if (alert.condition !== 'unusual' || !mayEdit) return null;
  return (
    <Button
      size="xs"
      variant="default"
      loading={accept.isPending}
      title={
        isDrift(alert.figure)
          ? t`Resolves the alert. The rule learns for 14 days and 10 runs what is usual and does not fire until then.`
          : t`Resolves the alert. The rule learns for 14 days what is usual and does not fire until then.`
      }
      onClick={() =>
        accept.mutate(alert.id, {
          onSuccess: () => showDone(t`Accepted as the new normal`),
          onError: showFailure,
        })
      }
    >
      {t`This is the new normal`}
    </Button>
  );
}

interface RulesProps {
  rules: AlertRules;
  add: React.ReactNode;
  onEdit: (rule: KeptRule) => void;
}

function Rules({ rules, add, onEdit }: RulesProps) {
  return (
    <Section title={t`Rules`} actions={add} framed>
      <ul className={classes.list} aria-label={t`Alert rules`}>
        {rules.items.map((kept) => (
          <RuleLine key={kept.id} kept={kept} onEdit={() => onEdit(kept)} />
        ))}
      </ul>
    </Section>
  );
}

function RuleLine({ kept, onEdit }: { kept: KeptRule; onEdit: () => void }) {
  const project = useProject();
  const mayEdit = useMay('editor');
  const save = useSaveAlertRule(project.id);
  const remove = useDeleteAlertRule(project.id);
  const { rule } = kept;
  const enabled = rule.enabled ?? true;
  const about = rule.each_flow ? t`Each flow` : (kept.flow_title ?? t`Whole project`);
  const ways = [t`in Steward`, ...(rule.channels ?? []).map(({ kind }) => t`by ${kind}`)];
  return (
    <li className={classes.item}>
      <div className={classes.about}>
        <div className={classes.name}>{rule.name}</div>
        <Text size="sm">
          {about}: {kept.sentence}
        </Text>
        <Text size="sm" c="dimmed">
          {kept.is_paused
            ? t`Not checked: ${kept.author_name} is no longer in the project. Save the rule to take it over.`
            : t`Notifies ${ways.join(', ')}. Messages are sent in the name of ${kept.author_name}.`}
        </Text>
      </div>
      {mayEdit && (
        <Group gap="sm">
          <Switch
            label={t`On`}
            aria-label={t`${rule.name} on`}
            checked={enabled}
            disabled={save.isPending}
            onChange={({ currentTarget }) =>
              save.mutate(
                { saved: kept, rule: { ...rule, enabled: currentTarget.checked } },
                { onError: showFailure },
              )
            }
          />
          <Button size="xs" variant="default" aria-label={t`Edit ${rule.name}`} onClick={onEdit}>
            {t`Edit`}
          </Button>
          <Button
            size="xs"
            variant="default"
            aria-label={t`Delete ${rule.name}`}
            loading={remove.isPending}
            onClick={() =>
              remove.mutate(kept, {
                onSuccess: () =>
                  offerUndo({
                    message: t`${rule.name} deleted`,
                    undo: () => save.mutateAsync({ rule }),
                  }),
                onError: showFailure,
              })
            }
          >
            {t`Delete`}
          </Button>
        </Group>
      )}
    </li>
  );
}

function History() {
  const project = useProject();
  const formats = useFormats();
  const query = useInfiniteQuery(alertsQuery(project.id, 'resolved'));
  const alerts = itemsOf(query.data);
  if (alerts.length === 0) return null;
  return (
    <Section title={t`History`} framed>
      <ul className={classes.list} aria-label={t`Resolved alerts`}>
        {alerts.map((alert) => (
          <li key={alert.id} className={classes.item}>
            <div className={classes.about}>
              <div className={classes.name}>
                {alert.name}
                <Chip word={t`Resolved`} icon={CircleCheck} tone="good" />
              </div>
              {isDrift(alert.figure) ? (
                <Changes alert={alert} />
              ) : (
                <Text size="sm">
                  <Trans>
                    <AboutLink alert={alert} />: opened at{' '}
                    {amountOf(formats, alert.figure, alert.value)} (limit{' '}
                    {amountOf(formats, alert.figure, alert.limit)})
                  </Trans>
                </Text>
              )}
              <Text size="sm" c="dimmed">
                <Trans>
                  {formats.dateTime(alert.opened_at)} to {formats.dateTime(alert.resolved_at ?? '')}
                  {alert.resolved_why !== null && `. ${RESOLVED_WORDS[alert.resolved_why]}.`}
                </Trans>
              </Text>
              <Sends alert={alert} />
            </div>
          </li>
        ))}
      </ul>
      <MoreButton query={query} />
    </Section>
  );
}
