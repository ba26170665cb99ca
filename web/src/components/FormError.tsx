/** Why a form was refused, where no single field is to blame; or that the change waits for somebody's approval. */
import { Alert } from '@mantine/core';
import { Hourglass, TriangleAlert } from 'lucide-react';
import { ApiError, explain } from '@/api/errors';
import { RunLink } from './RunLink';

export function FormError({ error }: { error: unknown }) {
  if (!error) return null;
  // Fields show their own messages.
  if (error instanceof ApiError && error.fields.length > 0) return null;
  const { title, detail } = explain(error);
  const waiting = error instanceof ApiError ? error.runId : null;
  if (waiting !== null) {
    return (
      <Alert
        role="status"
        color="yellow"
        variant="light"
        icon={<Hourglass size={16} aria-hidden />}
        title={title}
      >
        {detail} <RunLink runId={waiting} />
      </Alert>
    );
  }
  return (
    <Alert role="alert" color="red" variant="light" icon={<TriangleAlert size={16} aria-hidden />}>
      {detail || title}
    </Alert>
  );
}
