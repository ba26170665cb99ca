/** What loading came to. */
import { t } from '@lingui/core/macro';
import { Alert, Anchor, Button, Group, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { CircleCheck, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import type { LoadResult } from '@/api/uploads';
import { datasetPath } from '@/components/dataset-path';
import { useFormats } from '@/components/format';
import { Warnings } from './Warnings';

interface Props {
  projectId: string;
  result: LoadResult;
  /** What else could be done now. */
  further?: ReactNode;
}

export function Outcome({ projectId, result, further }: Props) {
  const formats = useFormats();
  const { dataset, rows, rejected, rejects_dataset, warnings } = result;
  return (
    <Stack>
      <Alert
        color={rejected > 0 ? 'yellow' : 'steward'}
        variant="light"
        icon={
          rejected > 0 ? (
            <TriangleAlert size={16} aria-hidden />
          ) : (
            <CircleCheck size={16} aria-hidden />
          )
        }
      >
        <Text size="sm" role="status">
          {rejected > 0
            ? t`${formats.number(rows)} of ${formats.number(rows + rejected)} rows loaded as ${dataset}. `
            : t`${formats.number(rows)} rows loaded as ${dataset}. `}
          {rejected > 0 && rejects_dataset !== null && (
            <>
              {t`${formats.number(rejected)} did not fit and `}
              <Anchor component={Link} to={datasetPath(projectId, rejects_dataset)} size="sm">
                {t`are listed with the reasons`}
              </Anchor>
              .
            </>
          )}
        </Text>
      </Alert>
      <Warnings warnings={warnings} />
      <Group justify="flex-end" gap="xs">
        {further}
        <Button component={Link} to={datasetPath(projectId, dataset)} data-autofocus>
          {t`Open ${dataset}`}
        </Button>
      </Group>
    </Stack>
  );
}
