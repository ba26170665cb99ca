/** What a place shows when its content could not be fetched: the reason and a way to try again. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Button, Code, Group, Stack, Text } from '@mantine/core';
import { RotateCw, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { ApiError, explain } from '@/api/errors';
import classes from './State.module.css';

interface Props {
  error: unknown;
  retry?: (() => void) | undefined;
  action?: ReactNode;
}

export function ErrorState({ error, retry, action }: Props) {
  const { title, detail, requestId } = explain(error);
  const wait = error instanceof ApiError ? error.retryAfterSeconds : null;
  return (
    <Stack align="center" gap="xs" role="alert" className={`${classes.root} ${classes.error}`}>
      <span className={classes.icon}>
        <TriangleAlert size={20} aria-hidden />
      </span>
      <Text fw={600}>{title}</Text>
      <Text c="dimmed" size="sm" maw="30rem">
        {detail}
        {wait !== null && t` You can try again in ${wait} seconds.`}
      </Text>
      {requestId !== null && (
        <Text c="dimmed" size="xs">
          <Trans>
            Request <Code>{requestId}</Code>
          </Trans>
        </Text>
      )}
      <Group gap="xs" mt="xs">
        {retry && (
          <Button
            variant="default"
            leftSection={<RotateCw size={14} aria-hidden />}
            onClick={retry}
          >
            {t`Try again`}
          </Button>
        )}
        {action}
      </Group>
    </Stack>
  );
}
