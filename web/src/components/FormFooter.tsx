/** The end of a form: the way out, and the button that sends it. */
import { t } from '@lingui/core/macro';
import { Button } from '@mantine/core';
import classes from './FormFooter.module.css';

interface Props {
  /** What sending does, as the button says it. */
  submit: string;
  cancel?: string;
  isPending: boolean;
  isDisabled?: boolean;
  onCancel: () => void;
}

export function FormFooter({ submit, cancel = t`Cancel`, isPending, isDisabled, onCancel }: Props) {
  return (
    <div className={classes.footer}>
      <Button variant="default" onClick={onCancel}>
        {cancel}
      </Button>
      <Button type="submit" loading={isPending} disabled={isDisabled ?? false}>
        {submit}
      </Button>
    </div>
  );
}
