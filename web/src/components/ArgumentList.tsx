/** The arguments of a call by what they are for: who gets something, where it goes and how much come first. */
import { t } from '@lingui/core/macro';
import { Text } from '@mantine/core';
import classes from './ArgumentList.module.css';
import { ARGUMENT_ROLES, argumentsByRole } from './argument-roles';

interface Props {
  arguments: Record<string, unknown>;
  /** Path of an argument → what it is for, as the call was planned. */
  roles: Record<string, string>;
}

export function ArgumentList({ arguments: given, roles }: Props) {
  return (
    <dl className={classes.list} aria-label={t`Arguments`}>
      {argumentsByRole(given, roles).map(({ path, role, value }) => (
        <div key={path} className={classes.item}>
          <dt>
            <Text span size="xs" fw={600}>
              {ARGUMENT_ROLES[role].word}
            </Text>{' '}
            <Text span size="xs" c="dimmed">
              {path}
            </Text>
          </dt>
          <dd>{shown(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

function shown(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) {
    return value.join(', ');
  }
  return JSON.stringify(value, null, 1);
}
