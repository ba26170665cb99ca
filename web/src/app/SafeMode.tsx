/** Says on every page that safe mode is on: nothing changes until a person approves it. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ShieldCheck } from 'lucide-react';
import { policySettingsQuery } from '@/api/policy';
import { projectPath, useMay } from './project';
import classes from './SafeMode.module.css';

export function SafeMode({ projectId }: { projectId: string }) {
  const mayLook = useMay('viewer');
  const { data } = useQuery({ ...policySettingsQuery(projectId), enabled: mayLook });
  if (data?.safe_mode !== true) return null;
  return (
    <div className={classes.bar} role="note" aria-label={t`Safe mode`}>
      <ShieldCheck size={14} aria-hidden />
      <span>
        <Trans>
          <b>Safe mode</b>: runs only read until a person approves a change.{' '}
          <Link to={projectPath(projectId, 'policy')} className={classes.link}>
            Policy
          </Link>
        </Trans>
      </span>
    </div>
  );
}
