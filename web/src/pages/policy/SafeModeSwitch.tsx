/** Safe mode: nothing changes until a person approves it. */
import { t } from '@lingui/core/macro';
import { Switch } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { policySettingsQuery, useChangePolicySettings } from '@/api/policy';
import { useMay, useProject } from '@/app/project';
import { showDone, showFailure } from '@/components/undo';

export function SafeModeSwitch() {
  const project = useProject();
  const mayChange = useMay('editor');
  const { data } = useQuery(policySettingsQuery(project.id));
  const change = useChangePolicySettings(project.id);
  if (!data) return null;
  const set = (safe_mode: boolean) =>
    change.mutate(
      { safe_mode, revision: data.revision },
      {
        onSuccess: () => showDone(safe_mode ? t`Safe mode is on` : t`Safe mode is off`),
        onError: showFailure,
      },
    );
  return (
    <Switch
      label={t`Safe mode`}
      description={t`Read-only until approved`}
      checked={change.isPending ? change.variables.safe_mode === true : data.safe_mode}
      disabled={!mayChange}
      onChange={({ currentTarget }) => set(currentTarget.checked)}
    />
  );
}
