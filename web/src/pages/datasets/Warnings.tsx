/** What to know about a file or table before it is relied upon. */
import { t } from '@lingui/core/macro';
import { Alert } from '@mantine/core';
import { TriangleAlert } from 'lucide-react';
import type { Inspection } from '@/api/uploads';

export function Warnings({ warnings }: Pick<Inspection, 'warnings'>) {
  if (warnings.length === 0) return null;
  return (
    <Alert color="yellow" variant="light" icon={<TriangleAlert size={16} aria-hidden />}>
      {warnings.map(({ message, line }, index) => (
        <div key={index}>
          {message}
          {line !== null && t` (line ${line})`}
        </div>
      ))}
    </Alert>
  );
}
