/** Which model is asked for what, and by whose choice; each can be chosen apart. */
import { t } from '@lingui/core/macro';
import { Select, Stack, Text } from '@mantine/core';
import { type Models, useChooseModels, useRestoreModels } from '@/api/models';
import { useProject } from '@/app/project';
import { Section } from '@/components/Section';
import { offerUndo, showFailure } from '@/components/undo';

const ROLES = {
  planner: { title: t`Plans`, words: t`turns a question into steps` },
  operator: { title: t`Carries out`, words: t`calls tools where a step needs judgement` },
  explainer: { title: t`Explains`, words: t`says what was found` },
} as const;
const SOURCES = {
  settings: t`set by the settings of this installation`,
  project: t`chosen for this project`,
  organisation: t`chosen for the organisation`,
} as const;

export function AskedFor({ models }: { models: Models }) {
  const project = useProject();
  const choose = useChooseModels(project.id);
  const restore = useRestoreModels(project.id);
  const own = models.setups.find(({ level }) => level === 'project');
  const labels = own?.models.map(({ label }) => label) ?? [];
  const change = (role: keyof typeof ROLES, label: string | null) => {
    if (!own) return;
    const uses = { ...own.uses, [role]: label === null ? [] : [label] };
    choose.mutate(
      { level: 'project', revision: own.revision, uses },
      {
        onSuccess: () =>
          offerUndo({
            message: `${ROLES[role].title}: ${label ?? t`as everything else`}`,
            undo: () => restore.mutateAsync({ level: 'project', revision: own.revision }),
            undone: t`The choice before is back`,
          }),
        onError: showFailure,
      },
    );
  };
  return (
    <Section title={t`Who is asked`} framed>
      <Stack>
        {models.asked.map(({ role, source, models: asked }) => {
          const isFixed = source === 'settings' || !own?.may_change || labels.length === 0;
          const words = `${ROLES[role].words}; ${source ? SOURCES[source] : t`no one is asked`}`;
          return isFixed ? (
            <div key={role}>
              <Text size="sm" fw={500}>
                {ROLES[role].title}: {asked.join(t`, then `) || t`no model`}
              </Text>
              <Text size="xs" c="dimmed">
                {words}
              </Text>
            </div>
          ) : (
            <Select
              key={role}
              label={ROLES[role].title}
              description={words}
              data={labels}
              value={own.uses[role]?.[0] ?? own.uses.default?.[0] ?? null}
              placeholder={asked.join(t`, then `)}
              disabled={choose.isPending}
              onChange={(label) => change(role, label)}
            />
          );
        })}
      </Stack>
    </Section>
  );
}
