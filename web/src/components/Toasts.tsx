/** Draws the toasts. */
import { t } from '@lingui/core/macro';
import { Anchor, Button, CloseButton } from '@mantine/core';
import { useEffect, useState } from 'react';
import { hideToast, type Toast, useToasts } from './toasts';
import classes from './Toasts.module.css';

export function Toasts() {
  const toasts = useToasts();
  return (
    <section aria-label={t`Messages`} className={classes.region}>
      {/* Present from the start: screen readers follow only live regions they already know. */}
      <div aria-live="polite" className={classes.stack}>
        {toasts.map((toast) => (
          <ToastCard key={toast.id} toast={toast} />
        ))}
      </div>
    </section>
  );
}

function ToastCard({ toast }: { toast: Toast }) {
  const [held, setHeld] = useState(false);
  const { id, shownFor } = toast;
  useEffect(() => {
    if (held) return;
    const timer = setTimeout(() => hideToast(id), shownFor);
    return () => clearTimeout(timer);
  }, [held, id, shownFor]);
  return (
    // Pointing at it or focusing it only keeps it on screen.
    // eslint-disable-next-line jsx-a11y/no-static-element-interactions
    <div
      className={classes.toast}
      data-tone={toast.tone}
      role={toast.tone === 'failure' ? 'alert' : 'status'}
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <div className={classes.text}>
        {toast.title !== undefined && <strong>{toast.title}</strong>}
        <span>{toast.message}</span>
        {toast.runId !== undefined && (
          <Anchor href={addressOf(toast.runId)} size="sm">
            {t`Open the run`}
          </Anchor>
        )}
      </div>
      {toast.action && (
        <Button variant="light" size="compact-sm" onClick={toast.action.run}>
          {toast.action.label}
        </Button>
      )}
      <CloseButton size="sm" aria-label={t`Dismiss`} onClick={() => hideToast(id)} />
    </div>
  );
}

/** Toasts are drawn outside the router, so the project is read off the address. */
function addressOf(runId: string): string {
  const [, , projectId = ''] = window.location.pathname.split('/');
  return `/p/${projectId}/runs/${runId}`;
}
