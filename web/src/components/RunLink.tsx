/** The way to a run of the current project. */
import { t } from '@lingui/core/macro';
import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { projectPath, useCurrentProject } from '@/app/project';

export function RunLink({ runId }: { runId: string }) {
  const project = useCurrentProject();
  if (!project) return null;
  return (
    <Anchor component={Link} to={projectPath(project.id, 'runs', runId)} size="sm" td="underline">
      {t`Open the run`}
    </Anchor>
  );
}
