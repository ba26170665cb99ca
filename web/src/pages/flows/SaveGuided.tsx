/** Saves a guided flow: as a draft on the canvas, or switched on at once. */
import { t } from '@lingui/core/macro';
import { Button, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { SubmitEvent } from 'react';
import { useCreatePlaybook, useDeployPlaybook } from '@/api/playbooks';
import { projectPath, useProject } from '@/app/project';
import classes from '@/components/FormFooter.module.css';
import { showDone, showFailure } from '@/components/undo';

const SWITCH_ON = 'switch-on';

/** Which of the buttons below sent the form. */
export function isSwitchingOn(event: SubmitEvent): boolean {
  const { submitter } = event.nativeEvent as unknown as { submitter: HTMLElement | null };
  return submitter?.getAttribute('value') === SWITCH_ON;
}

interface Wish {
  text: string;
  deploys: boolean;
}

export function useSaveGuided(onSaved?: () => void) {
  const project = useProject();
  const navigate = useNavigate();
  const create = useCreatePlaybook(project.id);
  const deploy = useDeployPlaybook(project.id);
  return useMutation({
    mutationFn: async ({ text, deploys }: Wish) => {
      const made = await create.mutateAsync(text);
      if (!deploys) return { made, isOn: false, refused: null };
      // The draft is saved by now: sending the form again would make a second one.
      const refused = await deploy.mutateAsync({ id: made.id, revision: made.head }).then(
        () => null,
        (error: unknown) => error as Error,
      );
      return { made, isOn: refused === null, refused };
    },
    onSuccess: ({ made, isOn, refused }) => {
      onSaved?.();
      if (refused) showFailure(refused);
      else showDone(isOn ? t`${made.name} is switched on` : t`${made.name} is saved as a draft`);
      void (isOn
        ? navigate({
            to: projectPath(project.id, 'playbooks', made.id),
            search: { tab: 'schedule' },
          })
        : navigate({ to: projectPath(project.id, 'flows', made.id) }));
    },
  });
}

interface Props {
  hasSchedule: boolean;
  isPending: boolean;
  onCancel?: () => void;
}

export function SaveGuided({ hasSchedule, isPending, onCancel }: Props) {
  return (
    <>
      <Text size="sm" c="dimmed">
        {hasSchedule
          ? t`The schedule starts when you switch the flow on. A draft runs only when you start it.`
          : t`Steward saves a draft and opens it on the canvas. It runs only when you start it.`}
      </Text>
      <div className={classes.footer} style={onCancel ? {} : { justifyContent: 'flex-start' }}>
        {onCancel && (
          <Button variant="default" onClick={onCancel}>
            {t`Cancel`}
          </Button>
        )}
        <Button type="submit" variant={hasSchedule ? 'default' : 'filled'} loading={isPending}>
          {t`Create and open the canvas`}
        </Button>
        {hasSchedule && (
          <Button type="submit" value={SWITCH_ON} loading={isPending}>
            {t`Save and switch on`}
          </Button>
        )}
      </div>
    </>
  );
}
