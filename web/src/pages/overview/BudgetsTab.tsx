/** Budgets of the project and of its flows, agents and people: what is used, and what is expected at the reset. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Button, Group, Progress, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { CircleAlert, OctagonX, PiggyBank } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { type BudgetItem, budgetsQuery, useAddBudget, useDeleteBudget } from '@/api/budgets';
import { useMay, useProject } from '@/app/project';
import { Chip } from '@/components/Chip';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { type Formats, useFormats } from '@/components/format';
import { LoadingLines } from '@/components/LoadingLines';
import { Section } from '@/components/Section';
import { offerUndo, showFailure } from '@/components/undo';
import classes from './alerts.module.css';
import { compact, dollarRange, dollars } from '@/components/amounts';
import overview from './overview.module.css';

const BudgetDialog = lazy(() => import('./BudgetDialog'));
const PERIODS = { day: t`Daily`, week: t`Weekly`, month: t`Monthly` };
/** A call is stopped when it does not fit, so the last fifth is often the end. */
const NEARLY = 0.2;
const KINDS = { project: t`project`, flow: t`flow`, agent: t`agent`, person: t`person` };

export default function BudgetsTab() {
  const project = useProject();
  const mayEdit = useMay('admin');
  const [edited, setEdited] = useState<BudgetItem | 'new' | null>(null);
  const query = useQuery(budgetsQuery(project.id));
  const budgets = query.data?.items;
  if (query.isError && !budgets)
    return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  if (!budgets) return <LoadingLines />;
  const add = mayEdit && (
    <Button leftSection={<PiggyBank size={14} aria-hidden />} onClick={() => setEdited('new')}>
      {t`Add a budget`}
    </Button>
  );
  return (
    <div className={overview.column}>
      {budgets.length === 0 ? (
        <EmptyState icon={PiggyBank} picture="chart" title={t`No budgets yet`} action={add}>
          {t`A budget limits what the project, a flow, an agent or a person may spend on models and tools in a day, week or month. Steward checks it before each request and stops what does not fit.`}
        </EmptyState>
      ) : (
        <Section title={t`Budgets`} actions={add} framed>
          <ul className={classes.list} aria-label={t`Budgets`}>
            {budgets.map((budget) => (
              <BudgetLine key={budget.id} budget={budget} onEdit={() => setEdited(budget)} />
            ))}
          </ul>
        </Section>
      )}
      {edited !== null && (
        <Suspense fallback={null}>
          <BudgetDialog kept={edited === 'new' ? null : edited} onClose={() => setEdited(null)} />
        </Suspense>
      )}
    </div>
  );
}

function BudgetLine({ budget, onEdit }: { budget: BudgetItem; onEdit: () => void }) {
  const formats = useFormats();
  const { expected, usd } = budget;
  const isOver = expected !== null && usd.limit !== null && expected.usd > usd.limit;
  return (
    <li className={classes.item}>
      <div className={classes.about}>
        <div className={classes.name}>
          {budget.title}
          <Text size="sm" c="dimmed" component="span">
            {t`${PERIODS[budget.period]} budget of the ${KINDS[budget.kind]}`}
          </Text>
          {isUsedUp(budget) && <Chip word={t`Used up`} icon={OctagonX} tone="bad" />}
          {!isUsedUp(budget) && isOver && (
            <Chip word={t`Will not suffice`} icon={CircleAlert} tone="wait" />
          )}
          {!isUsedUp(budget) && !isOver && isNearlyUsedUp(budget) && (
            <Chip word={t`Nearly used up`} icon={CircleAlert} tone="wait" />
          )}
        </div>
        {usd.limit !== null && <Use label={t`Dollars of ${budget.title}`} use={usd} unit="usd" />}
        {budget.tokens.limit !== null && (
          <Use label={t`Tokens of ${budget.title}`} use={budget.tokens} unit="tokens" />
        )}
        <Text size="sm" c="dimmed">
          <Trans>
            Resets on {formats.dateTime(budget.resets_at)}.
            {expected !== null && t` Expected until then: ${dollarRange(formats, expected)}.`}
          </Trans>
        </Text>
      </div>
      <Actions budget={budget} onEdit={onEdit} />
    </li>
  );
}

function isUsedUp({ usd, tokens }: BudgetItem): boolean {
  return usd.left === 0 || tokens.left === 0;
}

function isNearlyUsedUp({ usd, tokens }: BudgetItem): boolean {
  return [usd, tokens].some(({ limit, left }) => limit !== null && (left ?? 0) <= limit * NEARLY);
}

interface UseProps {
  label: string;
  use: BudgetItem['usd'];
  unit: 'usd' | 'tokens';
}

function Use({ label, use, unit }: UseProps) {
  const formats = useFormats();
  const limit = use.limit ?? 0;
  const share = (part: number) => (limit === 0 ? 100 : Math.min(100, (part / limit) * 100));
  const used = share(use.spent + use.reserved);
  const color = used >= 100 ? 'red' : used >= 100 * (1 - NEARLY) ? 'yellow' : undefined;
  return (
    <>
      <Text size="sm">
        <Trans>
          {amount(formats, unit, use.spent)} of {amount(formats, unit, limit)} spent
          {use.reserved > 0 && t`, ${amount(formats, unit, use.reserved)} set aside for calls`}
        </Trans>
      </Text>
      <Progress value={used} size="sm" aria-label={label} {...(color && { color })} />
    </>
  );
}

function amount(formats: Formats, unit: 'usd' | 'tokens', value: number): string {
  return unit === 'usd' ? dollars(formats, value) : t`${compact(formats, value)} tokens`;
}

function Actions({ budget, onEdit }: { budget: BudgetItem; onEdit: () => void }) {
  const project = useProject();
  const mayEdit = useMay('admin');
  const add = useAddBudget(project.id);
  const remove = useDeleteBudget(project.id);
  if (!mayEdit) return null;
  const { kind, name, period, usd, tokens } = budget;
  const again = { kind, name, period, usd: usd.limit, tokens: tokens.limit };
  return (
    <Group gap="xs">
      <Button
        size="xs"
        variant="default"
        aria-label={t`Change the budget of ${budget.title}`}
        onClick={onEdit}
      >
        {t`Change`}
      </Button>
      <Button
        size="xs"
        variant="default"
        aria-label={t`Delete the budget of ${budget.title}`}
        loading={remove.isPending}
        onClick={() =>
          remove.mutate(budget, {
            onSuccess: () =>
              offerUndo({
                message: t`Budget of ${budget.title} deleted`,
                undo: () => add.mutateAsync(again),
              }),
            onError: showFailure,
          })
        }
      >
        {t`Delete`}
      </Button>
    </Group>
  );
}
