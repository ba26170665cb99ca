/** Switches a skill on or off for the agents of this project. */
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
            message: `${name} is ${enabled ? 'on' : 'off'}`,
            undo: () => change.mutateAsync({ name, enabled: !enabled }),
            undone: `${name} is ${enabled ? 'off' : 'on'} again`,
          }),
        onError: showFailure,
      },
    );
  return (
    <Switch
      {...(withLabel ? { label: 'Agents use it' } : { 'aria-label': `Agents use ${name}` })}
      checked={change.isPending ? change.variables.enabled : skill.enabled}
      disabled={!mayChange}
      onChange={({ currentTarget }) => set(currentTarget.checked)}
    />
  );
}
