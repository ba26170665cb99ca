/** Says which runs are listed for somebody who came from a figure. */
import { Anchor, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { usePersonName } from '@/api/members';
import { playbookQuery } from '@/api/playbooks';
import type { Counted } from '@/api/runs';
import { projectPath, useProject } from '@/app/project';
import { useFormats } from '@/components/format';

const OF_PLAYBOOK = /^playbook:([^:]+)$/;

export function CountedLine({ counted }: { counted: Counted }) {
  const project = useProject();
  const formats = useFormats();
  const nameOf = usePersonName(project.id);
  const playbook = OF_PLAYBOOK.exec(counted.flow ?? '')?.[1] ?? '';
  const titled = useQuery({
    ...playbookQuery(project.id, playbook),
    enabled: playbook !== '',
  });
  if (Object.keys(counted).length === 0) return null;
  const { flow, revision, since, until, used, name, agent, failed, code, created_by: by } = counted;
  const use = used === undefined || used === 'run' ? null : `the ${used} “${name ?? ''}”`;
  const parts = [
    flow !== undefined && `of “${titled.data?.name ?? flow}”`,
    revision !== undefined &&
      (revision === '0' ? 'without a playbook' : `with revision ${revision}`),
    by !== undefined && `started by ${nameOf(by) ?? 'somebody who left'}`,
    use !== null && `that used ${use}`,
    agent !== undefined && `for the agent “${agent}”`,
    failed === 'true' && (use === null ? 'that failed' : 'in which it failed'),
    code !== undefined && `with the error ${code}`,
    used === 'run' && 'with those that other runs started',
    since !== undefined && `from ${formats.dateTime(since)}`,
    until !== undefined && `to ${formats.dateTime(until)}`,
  ];
  return (
    <Text size="sm" role="status">
      Runs that ended, {parts.filter((part) => part !== false).join(', ')}.{' '}
      <Anchor component={Link} to={projectPath(project.id, 'runs')} inherit>
        Show all runs
      </Anchor>
    </Text>
  );
}
