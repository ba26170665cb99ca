/** "Repeat this…": makes a playbook of something that was done once. */
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
}

export function RepeatButton({ work, name, rhythm, size = 'xs', variant = 'default' }: Props) {
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
        Repeat this…
      </Button>
      {isOpen && (
        <Suspense>
          <RepeatDialog
            work={work}
            name={name}
            rhythm={rhythm ?? null}
            onClose={() => setOpen(false)}
          />
        </Suspense>
      )}
    </>
  );
}
