/** The last seconds in which a message can be taken back. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Button } from '@mantine/core';
import { Send } from 'lucide-react';
import { takeBack } from '@/api/inbox';
import { showDone, showFailure } from '../undo';
import { useNow } from '../use-now';
import classes from './SendBanner.module.css';
import { closeSendWindow, type SendWindow, useSendWindows } from './send-window';

export function SendBanner() {
  const windows = useSendWindows();
  if (windows.length === 0) return null;
  return (
    <div className={classes.region} role="status" aria-label={t`Going out`}>
      {windows.map((window) => (
        <Going key={`${window.runId}/${window.key}`} window={window} />
      ))}
    </div>
  );
}

function Going({ window }: { window: SendWindow }) {
  const now = useNow(true, 200);
  const left = Math.max(0, Math.ceil((window.until - now) / 1000));
  const stop = async () => {
    closeSendWindow(window);
    try {
      await takeBack(window.projectId, window.runId, window.key);
      showDone(t`Taken back: it is not sent`);
    } catch (error) {
      showFailure(error);
    }
  };
  return (
    <div className={classes.banner}>
      <Send size={16} aria-hidden />
      <span className={classes.text}>
        <Trans>
          {window.title} goes out in <b className="tabular">{left} s</b>
        </Trans>
      </span>
      <Button size="compact-sm" variant="default" onClick={() => void stop()}>
        {t`Undo`}
      </Button>
    </div>
  );
}
