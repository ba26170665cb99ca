/** What a person changed about a plan: said on the card, on each step, and for steps that are gone. */
import { t } from '@lingui/core/macro';
import { Text } from '@mantine/core';
import { UserPen } from 'lucide-react';
import type { PlanReview } from '@/api/chat-types';
import { usePersonName } from '@/api/members';
import { useProject } from '@/app/project';
import { Chip } from '@/components/Chip';
import type { PlanChanges } from './plan-changes';
import classes from './plan.module.css';

export function ChangedBy({ review: { state, by } }: { review: PlanReview }) {
  const project = useProject();
  const nameOf = usePersonName(project.id);
  if (state !== 'changed') return null;
  const name = (by === null ? null : nameOf(by)) ?? t`somebody who left`;
  return <Chip word={t`Changed by ${name}`} icon={UserPen} title={t`Edited before it ran`} />;
}

export function StepChanges({ id, changes }: { id: string; changes: PlanChanges }) {
  const fields = changes.changed.get(id);
  if (changes.added.has(id)) {
    return (
      <div className={classes.facts}>
        <Chip word={t`Added`} icon={UserPen} title={t`A person added this step`} />
      </div>
    );
  }
  if (!fields) return null;
  return (
    <details className={classes.changes}>
      <summary>
        <Chip word={t`Changed`} icon={UserPen} title={t`A person changed this step`} />
        {fields.map(({ field }) => field).join(', ')}
      </summary>
      <dl>
        {fields.map(({ field, before, after }) => (
          <div key={field}>
            <dt>{field}</dt>
            <dd>
              <del>{before === '' ? t`nothing` : before}</del>{' '}
              <ins>{after === '' ? t`nothing` : after}</ins>
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

export function LeftOut({ changes: { removed, isReordered } }: { changes: PlanChanges }) {
  if (removed.length === 0 && !isReordered) return null;
  return (
    <div className={classes.leftOut}>
      {removed.length > 0 && (
        <Text size="xs" c="dimmed">
          {t`Taken out: `}
          {removed.map(({ id, title }, index) => (
            <span key={id}>
              {index > 0 && ', '}
              <del>{title}</del>
            </span>
          ))}
        </Text>
      )}
      {isReordered && (
        <Text size="xs" c="dimmed">
          {t`The steps were put in another order.`}
        </Text>
      )}
    </div>
  );
}
