/** From a run, or one of its calls, to the canvas of the playbook that it runs. */
import { t } from '@lingui/core/macro';
import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { RunDetail } from '@/api/run-types';
import { projectPath, useMay, useProject } from '@/app/project';

const OF_PLAYBOOK = 'playbook:';

interface Props {
  run: Pick<RunDetail, 'id' | 'subject'>;
  /** A call whose step is shown there. */
  call?: string;
  /** What separates the link from the text before it. */
  before?: string;
}

/** The playbook that a run is of. */
export function playbookOf({ subject }: Pick<RunDetail, 'subject'>): string | null {
  if (!subject?.startsWith(OF_PLAYBOOK)) return null;
  const playbookId = subject.slice(OF_PLAYBOOK.length);
  // A message about a playbook, such as an alert or an analysis, is no run of it.
  return playbookId.includes(':') ? null : playbookId;
}

export function CanvasLink({ run, call, before = '' }: Props) {
  const project = useProject();
  const mayLook = useMay('viewer');
  const playbookId = playbookOf(run);
  if (!mayLook || playbookId === null) return null;
  const step = call === undefined ? '' : `&step=${encodeURIComponent(call)}`;
  return (
    <>
      {before}
      <Anchor
        component={Link}
        to={`${projectPath(project.id, 'flows', playbookId)}?run=${run.id}${step}`}
        inherit
      >
        {t`Show on the canvas`}
      </Anchor>
    </>
  );
}
