/** Past calls that a changed text would decide otherwise. */
import { plural, t } from '@lingui/core/macro';
import { Alert, Anchor, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { TriangleAlert } from 'lucide-react';
import type { ChangedDecision } from '@/api/run-types';
import { projectPath, useProject } from '@/app/project';
import { Chip } from '@/components/Chip';
import { outcomeWord } from './preset-words';
import classes from './policy.module.css';

export function ChangedDecisions({ found }: { found: ChangedDecision[] }) {
  const project = useProject();
  const looser = found.filter((decision) => decision.looser).length;
  if (found.length === 0) {
    return (
      <Alert variant="light" color="steward" role="status">
        {t`Every past call would have been decided as it was.`}
      </Alert>
    );
  }
  return (
    <div role="status">
      <Text size="sm" mb={6}>
        {plural(found.length, {
          one: `${found.length} past call would be decided otherwise`,
          other: `${found.length} past calls would be decided otherwise`,
        })}
        {looser > 0 && t`, ${looser} of them more freely`}.
      </Text>
      <ul className={classes.decisions} aria-label={t`Changed decisions`}>
        {found.map(({ run_id, key, tool, before, after, looser: isLooser }) => (
          <li key={`${run_id}/${key}`} data-looser={isLooser}>
            <span>
              <Anchor component={Link} to={projectPath(project.id, 'runs', run_id)} size="sm">
                {tool}
              </Anchor>{' '}
              <Text span size="xs" c="dimmed">
                {key}
              </Text>
            </span>
            <span>
              {outcomeWord(before)} → <b>{outcomeWord(after)}</b>
            </span>
            {isLooser && <Chip word={t`Looser`} icon={TriangleAlert} tone="wait" />}
          </li>
        ))}
      </ul>
    </div>
  );
}
