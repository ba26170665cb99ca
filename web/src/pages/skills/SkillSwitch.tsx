/** Switches a skill on or off for the agents of this project. */
import { t } from '@lingui/core/macro';
import { Switch } from '@mantine/core';
import { type SkillInfo, useSwitchSkill } from '@/api/skills';
import { useMay, useProject } from '@/app/project';
import { offerUndo, showFailure } from '@/components/undo';

interface Props {
  skill: Pick<SkillInfo, 'name' | 'enabled'>;
  withLabel?: boolean;
}

export function SkillSwitch({ skill, withLabel = false }: Props) {
  const project = useProject();
  const mayChange = useMay('editor');
  const change = useSwitchSkill(project.id);
  const { name } = skill;
  const set = (enabled: boolean) =>
    change.mutate(
      { name, enabled },
      {
        onSuccess: () =>
          offerUndo({
            message: enabled ? t`${name} is on` : t`${name} is off`,
            undo: () => change.mutateAsync({ name, enabled: !enabled }),
            undone: enabled ? t`${name} is off again` : t`${name} is on again`,
          }),
        onError: showFailure,
      },
    );
  return (
    <Switch
      {...(withLabel ? { label: t`Agents use it` } : { 'aria-label': t`Agents use ${name}` })}
      checked={change.isPending ? change.variables.enabled : skill.enabled}
      disabled={!mayChange}
      onChange={({ currentTarget }) => set(currentTarget.checked)}
    />
  );
}
