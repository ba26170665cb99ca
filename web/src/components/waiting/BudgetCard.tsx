/** A budget that does not cover the next call, or a list of items: how much is left, and what to do. */
import { t } from '@lingui/core/macro';
import { Button, NumberInput, Text } from '@mantine/core';
import { useState } from 'react';
import { dollars } from '../amounts';
import { FormError } from '../FormError';
import { type Formats, useFormats } from '../format';
import { useDecision } from './answering';
import type { CardProps } from './QuestionCard';
import classes from './waiting.module.css';

type Breach = NonNullable<CardProps['request']['breach']>;

const UNITS: Record<string, string> = {
  usd: t`US dollars`,
  tokens: t`tokens`,
  seconds: t`seconds`,
  rows: t`rows`,
  bytes: t`bytes`,
};

function amountText(formats: Formats, limit: string, amount: string | number): string {
  const value = Number(amount);
  if (limit === 'usd') return dollars(formats, value);
  return `${formats.number(value)} ${UNITS[limit] ?? limit}`;
}

/** What to raise the limit to: enough for the list that asks, or for this call and others like it. */
function suggested({ limit, total, left, asked, parts }: Breach): number {
  const most = Number(total);
  // A call that may need nothing is stopped when all is used up: as much again is offered then.
  const more = Number(asked) || most || 1;
  const wanted = parts === undefined ? most + more : most - Number(left) + more;
  // Rounded up: a sum of fractions is not one that somebody would type.
  const step = limit === 'usd' ? 100 : 1;
  return Math.ceil(Number((wanted * step).toFixed(6))) / step;
}

export function BudgetCard({ waiting, request }: CardProps) {
  const { breach } = request;
  if (!breach) return null;
  return breach.budget_id === undefined ? (
    <RunBudget waiting={waiting} breach={breach} />
  ) : (
    <PeriodBudget waiting={waiting} breach={breach} />
  );
}

interface Props {
  waiting: CardProps['waiting'];
  breach: Breach;
}

function RunBudget({ waiting, breach }: Props) {
  const { say, isPending, error } = useDecision(waiting);
  const total = Number(breach.total);
  const [limit, setLimit] = useState<number | string>(suggested(breach));
  const unit = UNITS[breach.limit] ?? breach.limit;
  const raise = () =>
    say({ decision: 'raise', limits: { [breach.limit]: String(limit) } }, t`Budget raised`);
  return (
    <div className={classes.card}>
      {breach.parts !== undefined && <Text size="sm">{breach.message}</Text>}
      <Amounts breach={breach} />
      <NumberInput
        label={t`New limit in ${unit}`}
        description={t`The run goes on at once. Abort ends only what is under way here.`}
        value={limit}
        min={total}
        thousandSeparator=" "
        prefix={breach.limit === 'usd' ? '$' : ''}
        maw="20rem"
        onChange={setLimit}
      />
      <FormError error={error} />
      <div className={classes.actions}>
        <Button
          loading={isPending}
          disabled={typeof limit !== 'number' || limit <= total}
          onClick={raise}
        >
          {t`Raise the limit`}
        </Button>
        <AbortButton isPending={isPending} say={say} />
      </div>
    </div>
  );
}

function PeriodBudget({ waiting, breach }: Props) {
  const { say, isPending, error } = useDecision(waiting);
  return (
    <div className={classes.card}>
      <Text size="sm">{t`${breach.message} The run goes on by itself then.`}</Text>
      <Amounts breach={breach} />
      <FormError error={error} />
      <div className={classes.actions}>
        <Button
          loading={isPending}
          onClick={() => say({ decision: 'raise' }, t`The call is tried again`)}
        >
          {t`Try again`}
        </Button>
        <AbortButton isPending={isPending} say={say} />
      </div>
    </div>
  );
}

function Amounts({ breach }: { breach: Breach }) {
  const { limit, total, left, asked, parts } = breach;
  const formats = useFormats();
  const text = (amount: string | number) => amountText(formats, limit, amount);
  const need = parts === undefined ? t`The next call needs at most` : t`Expected for all items`;
  return (
    <dl className={classes.amounts}>
      <div>
        <dt>{t`Limit`}</dt>
        <dd>{text(total)}</dd>
      </div>
      <div>
        <dt>{t`Used or reserved`}</dt>
        <dd>{text(Math.max(0, Number(total) - Number(left)))}</dd>
      </div>
      <div>
        <dt>{t`Left`}</dt>
        <dd>{text(left)}</dd>
      </div>
      {/* A call whose need is not known beforehand asks for nothing. */}
      {Number(asked) > 0 && (
        <div>
          <dt>{need}</dt>
          <dd>{text(asked)}</dd>
        </div>
      )}
    </dl>
  );
}

function AbortButton({
  isPending,
  say,
}: Pick<ReturnType<typeof useDecision>, 'isPending' | 'say'>) {
  return (
    <Button
      variant="light"
      color="red"
      disabled={isPending}
      onClick={() => say({ decision: 'abort' }, t`The call was given up`)}
    >
      {t`Abort`}
    </Button>
  );
}
