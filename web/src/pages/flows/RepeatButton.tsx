/** Makes a playbook of something that was done once. */
import { t } from '@lingui/core/macro';
import { Button, type ButtonProps } from '@mantine/core';
import { Repeat } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import type { Rhythm } from '@/api/chat-types';
import { useMay } from '@/app/project';
import type { Work } from '@/flows/guide';

const RepeatDialog = lazy(() => import('./RepeatDialog'));

interface Props extends Pick<ButtonProps, 'size' | 'variant'> {
  /** What is repeated. */
  work: Work;
  /** What the playbook is called until somebody names it. */
  name: string;
  /** How often, where the person said so. */
  rhythm?: Rhythm | null;
  /** Of the rows, so that a chart can be drawn of them. */
  columns?: readonly { name: string; type: string }[];
}

export function RepeatButton(props: Props) {
  const { work, name, rhythm, columns, size = 'xs', variant = 'default' } = props;
  const mayWrite = useMay('editor');
  const [isOpen, setOpen] = useState(false);
  if (!mayWrite) return null;
  return (
    <>
      <Button
        size={size}
        variant={variant}
        leftSection={<Repeat size={13} aria-hidden />}
        onClick={() => setOpen(true)}
      >
        {t`Make this a playbook…`}
      </Button>
      {isOpen && (
        <Suspense>
          <RepeatDialog
            work={work}
            name={name}
            rhythm={rhythm ?? null}
            columns={columns ?? []}
            onClose={() => setOpen(false)}
          />
        </Suspense>
      )}
    </>
  );
}
