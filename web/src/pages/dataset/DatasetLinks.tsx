/** Where else to go with this dataset: matching its records, writing a report about it. */
import { t } from '@lingui/core/macro';
import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { projectPath } from '@/app/project';

export function DatasetLinks({ projectId, dataset }: { projectId: string; dataset: string }) {
  const matching = new URLSearchParams({ datasets: JSON.stringify([dataset]) });
  const report = new URLSearchParams({ dialog: 'write', dataset });
  return (
    <>
      <Button
        component={Link}
        to={`${projectPath(projectId, 'resolve')}?${matching}`}
        variant="default"
      >
        {t`Match records`}
      </Button>
      <Button
        component={Link}
        to={`${projectPath(projectId, 'reports')}?${report}`}
        variant="default"
      >
        {t`Report`}
      </Button>
    </>
  );
}
