/** Lists everything that goes back before it does: the changes themselves, later ones that depend on them, and what stays. */
import { plural, t } from '@lingui/core/macro';
import { Alert, Button, Group, Modal, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { TriangleAlert } from 'lucide-react';
import { usePersonName } from '@/api/members';
import type { components } from '@/api/schema';
import { takeBackPlanQuery, useTakeBack, type Whole } from '@/api/take-back';
import { useProject } from '@/app/project';
import { ErrorState } from '../ErrorState';
import { RelativeTime } from '../Moment';
import { showDone, showFailure } from '../undo';
import classes from './taking-back.module.css';

type Plan = components['schemas']['TakeBackPlanOut'];

interface Props {
  title: string;
  whole: Whole;
  opened: boolean;
  onClose: () => void;
  /** Undoes one change and leaves the rows that later changes edited. */
  undoOtherRows?: (() => void) | undefined;
}

export function TakeBackDialog({ title, opened, ...props }: Props) {
  return (
    <Modal opened={opened} onClose={props.onClose} title={title} size="38rem">
      {opened && <TakeBackChoice {...props} />}
    </Modal>
  );
}

type ChoiceProps = Omit<Props, 'title' | 'opened'>;

export function TakeBackChoice({ whole, onClose, undoOtherRows }: ChoiceProps) {
  const project = useProject();
  const query = useQuery(takeBackPlanQuery(project.id, whole));
  const takeBack = useTakeBack(project.id);
  if (query.isError) {
    return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  }
  if (query.isPending) return <Skeleton height={120} aria-busy />;
  const plan = query.data;
  const own = plan.steps.filter(({ later }) => !later);
  const hasLater = own.length < plan.steps.length;
  const run = (withLater: boolean) =>
    takeBack.mutate(
      { whole, withLater },
      {
        onSuccess: ({ count }) => showDone(t`${changes(count)} taken back`),
        onError: showFailure,
        onSettled: onClose,
      },
    );
  return (
    <Stack>
      <TakeBackList plan={plan} />
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          {t`Cancel`}
        </Button>
        {undoOtherRows && plan.blocked.length > 0 && (
          <Button
            variant="default"
            onClick={() => {
              onClose();
              undoOtherRows();
            }}
          >
            {t`Undo only rows not edited since`}
          </Button>
        )}
        {hasLater && plan.blocked.length === 0 && (
          <Button
            variant="default"
            loading={takeBack.isPending && !takeBack.variables.withLater}
            onClick={() => run(false)}
          >
            {plural(own.length, {
              one: `Undo only this one`,
              other: `Undo only these ${own.length}`,
            })}
          </Button>
        )}
        {plan.steps.length > 0 && (
          <Button
            loading={takeBack.isPending && takeBack.variables.withLater === hasLater}
            onClick={() => run(hasLater)}
            data-autofocus
          >
            {buttonText(plan.steps.length)}
          </Button>
        )}
      </Group>
    </Stack>
  );
}

function buttonText(count: number): string {
  if (count === 1) return t`Undo`;
  return count === 2 ? t`Undo both` : t`Undo all ${count}`;
}

function changes(count: number): string {
  return plural(count, { one: `1 change`, other: `${count} changes` });
}

function TakeBackList({ plan: { steps, left, blocked } }: { plan: Plan }) {
  const own = steps.filter(({ later }) => !later);
  const later = steps.filter((step) => step.later);
  return (
    <>
      {own.length === 0 && <Text size="sm">{t`There is nothing left to take back.`}</Text>}
      {own.length > 0 && (
        <div>
          <Text size="sm" fw={600}>
            {plural(own.length, {
              one: `This change goes back`,
              other: `These ${own.length} changes go back`,
            })}
          </Text>
          <Steps steps={own} />
        </div>
      )}
      {later.length > 0 && (
        <Alert
          color="yellow"
          variant="light"
          icon={<TriangleAlert size={16} aria-hidden />}
          title={plural(later.length, {
            one: `A later change depends on it`,
            other: `${later.length} later changes depend on it`,
          })}
        >
          {blocked.length > 0 && (
            <Text size="sm">
              {t`They edited ${blocked.join(', ')} again, so they must be undone too.`}
            </Text>
          )}
          <Steps steps={later} />
        </Alert>
      )}
      {left.length > 0 && (
        <div>
          <Text size="sm" fw={600}>
            {t`This stays, because it cannot be undone`}
          </Text>
          <ul className={classes.list}>
            {left.map((summary, index) => (
              <li key={`${index}/${summary}`}>{summary}</li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}

function Steps({ steps }: { steps: Plan['steps'] }) {
  const nameOf = usePersonName(useProject().id);
  return (
    <ol className={classes.list}>
      {steps.map(({ run_id, key, commit, summary, at, by }) => (
        <li key={`${run_id}/${key}/${commit}`}>
          {summary}
          <Text span size="xs" c="dimmed" display="block">
            {nameOf(by) ?? t`A former member`}, <RelativeTime value={at} />
          </Text>
        </li>
      ))}
    </ol>
  );
}
