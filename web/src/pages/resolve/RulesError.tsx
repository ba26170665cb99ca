/** Why the server refused the rules, with the place of every mistake. */
import { Alert } from '@mantine/core';
import { TriangleAlert } from 'lucide-react';
import { ApiError, explain } from '@/api/errors';
import classes from './resolve.module.css';

export function RulesError({ error }: { error: unknown }) {
  if (!error) return null;
  const { title, detail } = explain(error);
  const fields = error instanceof ApiError ? error.fields : [];
  return (
    <Alert role="alert" color="red" variant="light" icon={<TriangleAlert size={16} aria-hidden />}>
      {detail || title}
      {fields.length > 1 && (
        <ul className={classes.notes}>
          {fields.map(({ pointer, message }) => (
            <li key={pointer}>{`${pointer}: ${message}`}</li>
          ))}
        </ul>
      )}
    </Alert>
  );
}
