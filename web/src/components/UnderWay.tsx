/** What the reader started and is still under way, also after a reload: how far it is, and a way to cancel it. */
import { Stack } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { projectKey } from '@/api/keys';
import { cancelWork, underWayQuery } from '@/api/long-work';
import { WorkProgress } from './WorkProgress';

interface Props {
  projectId: string;
  subject: 'load' | 'report';
}

export function UnderWay({ projectId, subject }: Props) {
  const client = useQueryClient();
  const found = useQuery(underWayQuery(projectId, subject)).data ?? [];
  const count = found.length;
  useEffect(() => {
    // One fewer may have ended with new data.
    void client.invalidateQueries({ queryKey: projectKey(projectId, 'data') });
  }, [client, count, projectId]);
  if (count === 0) return null;
  return (
    <Stack gap="sm" mb="md">
      {found.map((work) => (
        <WorkProgress
          key={work.id}
          doing={`${work.title}: ${work.doing}`}
          done={work.done}
          total={work.total}
          onCancel={() => void cancelWork(projectId, work.id)}
        />
      ))}
    </Stack>
  );
}
