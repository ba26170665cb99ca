/** Yes or no, at a click or by the keys that they show. */
import { t } from '@lingui/core/macro';
import { Button } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { Check, X } from 'lucide-react';
import { KeyHint } from './Facts';
import classes from './waiting.module.css';

interface Props {
  /** What yes means here. */
  approve?: string;
  hasKeys: boolean;
  isPending: boolean;
  isReady?: boolean;
  onApprove: () => void;
  onReject: () => void;
}

export function DecisionButtons({
  approve = t`Approve`,
  hasKeys,
  isPending,
  isReady = true,
  onApprove,
  onReject,
}: Props) {
  useHotkeys(
    hasKeys && isReady && !isPending
      ? [
          ['a', onApprove],
          ['r', onReject],
        ]
      : [],
  );
  return (
    <div className={classes.actions}>
      <Button
        leftSection={<Check size={14} aria-hidden />}
        rightSection={hasKeys && <KeyHint letter="A" />}
        loading={isPending}
        disabled={!isReady}
        onClick={onApprove}
      >
        {approve}
      </Button>
      <Button
        variant="light"
        color="red"
        leftSection={<X size={14} aria-hidden />}
        rightSection={hasKeys && <KeyHint letter="R" />}
        disabled={isPending}
        onClick={onReject}
      >
        {t`Reject`}
      </Button>
    </div>
  );
}
