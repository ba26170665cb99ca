/** Which model is asked for what, and by whose choice; each can be chosen apart. */
import { Select, Stack, Text } from '@mantine/core';
import { type Models, useChooseModels, useRestoreModels } from '@/api/models';
import { useProject } from '@/app/project';
import { Section } from '@/components/Section';
import { offerUndo, showFailure } from '@/components/undo';

const ROLES = {
  planner: { title: 'Plans', words: 'turns a question into steps' },
  operator: { title: 'Carries out', words: 'calls tools where a step needs judgement' },
  explainer: { title: 'Explains', words: 'says what was found' },
} as const;
const SOURCES = {
  settings: 'set by the settings of this installation',
  project: 'chosen for this project',
  organisation: 'chosen for the organisation',
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
            message: `${ROLES[role].title}: ${label ?? 'as everything else'}`,
            undo: () => restore.mutateAsync({ level: 'project', revision: own.revision }),
            undone: 'The choice before is back',
          }),
        onError: showFailure,
      },
    );
  };
  return (
    <Section title="Who is asked" framed>
      <Stack>
        {models.asked.map(({ role, source, models: asked }) => {
          const isFixed = source === 'settings' || !own?.may_change || labels.length === 0;
          const words = `${ROLES[role].words}; ${source ? SOURCES[source] : 'no one is asked'}`;
          return isFixed ? (
            <div key={role}>
              <Text size="sm" fw={500}>
                {ROLES[role].title}: {asked.join(', then ') || 'no model'}
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
              placeholder={asked.join(', then ')}
              disabled={choose.isPending}
              onChange={(label) => change(role, label)}
            />
          );
        })}
      </Stack>
    </Section>
  );
}
