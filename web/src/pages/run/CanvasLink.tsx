/** From a run, or one of its calls, to the canvas of the playbook that it runs. */
import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { RunDetail } from '@/api/run-types';
import { projectPath, useMay, useProject } from '@/app/project';

const OF_PLAYBOOK = 'playbook:';

interface Props {
  run: Pick<RunDetail, 'id' | 'subject'>;
  /** A call whose step is shown there. */
  call?: string;
}

export function CanvasLink({ run, call }: Props) {
  const project = useProject();
  const mayLook = useMay('viewer');
  if (!mayLook || !run.subject?.startsWith(OF_PLAYBOOK)) return null;
  const playbookId = run.subject.slice(OF_PLAYBOOK.length);
  // A message about a playbook, such as an alert, is no run of it.
  if (playbookId.includes(':')) return null;
  const step = call === undefined ? '' : `&step=${encodeURIComponent(call)}`;
  return (
    <Anchor
      component={Link}
      to={`${projectPath(project.id, 'flows', playbookId)}?run=${run.id}${step}`}
      inherit
    >
      Show on the canvas
    </Anchor>
  );
}
