/** Who else has the flow open, and whether they have changes that are not saved. */
import { t } from '@lingui/core/macro';
import { Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Eye, PencilLine } from 'lucide-react';
import { useEffect } from 'react';
import { usePersonName } from '@/api/members';
import { endPresence, presenceQuery } from '@/api/playbooks';
import { useProject } from '@/app/project';

interface Props {
  playbookId: string;
  /** The reader has changes of their own. */
  isEditing: boolean;
}

export function Watchers({ playbookId, isEditing }: Props) {
  const project = useProject();
  const nameOf = usePersonName(project.id);
  const others = useQuery(presenceQuery(project.id, playbookId, isEditing)).data ?? [];
  useEffect(
    () => () => {
      // Somebody who is gone is forgotten by the server soon, too.
      endPresence(project.id, playbookId).catch(() => undefined);
    },
    [project.id, playbookId],
  );
  return others.map((other) => (
    <Group key={other.user_id} gap={4} component="span">
      {other.is_editing ? <PencilLine size={13} aria-hidden /> : <Eye size={13} aria-hidden />}
      {other.is_editing
        ? t`${nameOf(other.user_id) ?? t`Someone`} is changing this flow`
        : t`${nameOf(other.user_id) ?? t`Someone`} has this flow open`}
    </Group>
  ));
}
