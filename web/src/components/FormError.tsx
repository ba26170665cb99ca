/** Why a form was refused, where no single field is to blame. */
import { Alert } from '@mantine/core';
import { TriangleAlert } from 'lucide-react';
import { ApiError, explain } from '@/api/errors';

export function FormError({ error }: { error: unknown }) {
  if (!error) return null;
  // Fields show their own messages.
  if (error instanceof ApiError && error.fields.length > 0) return null;
  const { title, detail } = explain(error);
  return (
    <Alert role="alert" color="red" variant="light" icon={<TriangleAlert size={16} aria-hidden />}>
      {detail || title}
    </Alert>
  );
}
