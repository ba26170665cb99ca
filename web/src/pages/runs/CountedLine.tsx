/** Says which runs are listed for somebody who came from a figure. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Anchor, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { usePersonName } from '@/api/members';
import { playbookQuery } from '@/api/playbooks';
import type { Counted } from '@/api/runs';
import { projectPath, useProject } from '@/app/project';
import { useFormats } from '@/components/format';

const USED: Partial<Record<string, (name: string) => string>> = {
  model: (name) => t`the model “${name}”`,
  tool: (name) => t`the tool “${name}”`,
  agent: (name) => t`the agent “${name}”`,
  connector: (name) => t`the connection “${name}”`,
};

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
  const use = used === undefined ? null : (USED[used]?.(name ?? '') ?? null);
  const parts = [
    flow !== undefined && t`of “${titled.data?.name ?? flow}”`,
    revision !== undefined &&
      (revision === '0' ? t`without a playbook` : t`with revision ${revision}`),
    by !== undefined && t`started by ${nameOf(by) ?? t`somebody who left`}`,
    use !== null && t`that used ${use}`,
    agent !== undefined && t`for the agent “${agent}”`,
    failed === 'true' && (use === null ? t`that failed` : t`in which it failed`),
    code !== undefined && t`with the error ${code}`,
    used === 'run' && t`with those that other runs started`,
    since !== undefined && t`from ${formats.dateTime(since)}`,
    until !== undefined && t`until ${formats.dateTime(until)}`,
  ];
  return (
    <Text size="sm" role="status">
      <Trans>
        Runs that ended, {parts.filter((part) => part !== false).join(', ')}.{' '}
        <Anchor component={Link} to={projectPath(project.id, 'runs')} inherit>
          Show all runs
        </Anchor>
      </Trans>
    </Text>
  );
}
