/** The text in force: presets to begin with, an editor with faults as one types, and a trial on past runs. */
import { t } from '@lingui/core/macro';
import { Alert, Button, Group, Skeleton, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import {
  policyFaultsQuery,
  type PolicyPlace,
  policyQuery,
  presetsQuery,
  simulatePolicy,
  useSavePolicy,
} from '@/api/policy';
import type { PolicyRevision } from '@/api/run-types';
import { useMay, useProject } from '@/app/project';
import { CodeField } from '@/components/CodeField';
import { ErrorState } from '@/components/ErrorState';
import { FormError } from '@/components/FormError';
import { offerUndo, showDone, whenDone } from '@/components/undo';
import { ChangedDecisions } from './ChangedDecisions';
import { PRESET_WORDS } from './preset-words';

export function PolicyRules({ place }: { place: PolicyPlace }) {
  const project = useProject();
  const query = useQuery({
    ...policyQuery(project.id, place),
    enabled: place.level !== 'playbook' || place.subject !== null,
  });
  if (place.level === 'playbook' && place.subject === null) {
    return (
      <Text size="sm" c="dimmed">
        {t`Name a playbook to see its rules.`}
      </Text>
    );
  }
  if (query.isError && !query.data) {
    return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  }
  if (!query.data) return <Skeleton height={240} aria-busy />;
  // A revision that somebody else saved starts the editor anew.
  return <Editor key={query.data.revision} place={place} current={query.data} />;
}

interface EditorProps {
  place: PolicyPlace;
  current: PolicyRevision;
}

function useFaults(text: string) {
  const project = useProject();
  const [settled] = useDebouncedValue(text, 350);
  const query = useQuery(policyFaultsQuery(project.id, settled));
  return { faults: query.data ?? [], isChecking: query.isFetching || settled !== text };
}

function Editor({ place, current }: EditorProps) {
  const project = useProject();
  const mayTry = useMay('editor');
  const maySave = useMay('admin');
  const [text, setText] = useState(current.text);
  const [message, setMessage] = useState('');
  const { faults, isChecking } = useFaults(text);
  const simulate = useMutation({
    mutationFn: (tried: string) => simulatePolicy(project.id, place, tried),
  });
  const save = useSavePolicy(project.id);
  const isChanged = text !== current.text;
  const store = () => {
    const change = save.mutateAsync({
      place,
      text,
      message: message.trim(),
      revision: current.revision,
    });
    whenDone(change, (saved) => {
      if (current.revision === 0) showDone(t`Policy saved`);
      else {
        offerUndo({
          message: t`Policy saved`,
          undo: () =>
            save.mutateAsync({
              place,
              text: current.text,
              message: t`Back to revision ${current.revision}`,
              revision: saved.revision,
            }),
          undone: t`The policy is as before`,
        });
      }
    });
  };
  const problems = faults.map(({ line, column, message: said }) => ({
    place: t`Line ${line}, column ${column}`,
    line,
    message: said,
  }));
  return (
    <Stack>
      <Presets current={current} text={text} onChoose={maySave ? setText : undefined} />
      <CodeField
        label={t`Rules (Cedar)`}
        description={
          current.revision === 0
            ? t`You have not saved rules here yet. These are the default rules.`
            : t`Revision ${current.revision}${current.message === '' ? '' : `: ${current.message}`}`
        }
        value={text}
        onChange={setText}
        problems={problems}
        fine={t`Nothing is wrong with it.`}
        isChecking={isChecking}
        readOnly={!mayTry}
      />
      {mayTry && isChanged && (
        <>
          <TextInput
            label={t`Why`}
            description={t`Kept in the history.`}
            value={message}
            maxLength={400}
            maw="36rem"
            onChange={({ currentTarget }) => setMessage(currentTarget.value)}
          />
          {simulate.data && simulate.variables === text && (
            <ChangedDecisions found={simulate.data} />
          )}
          <FormError error={simulate.error ?? save.error} />
          <Group gap="xs">
            <Button
              variant="default"
              loading={simulate.isPending}
              disabled={faults.length > 0 || isChecking}
              onClick={() => simulate.mutate(text)}
            >
              {t`Try on past runs`}
            </Button>
            <Button
              loading={save.isPending}
              disabled={!maySave || faults.length > 0 || isChecking}
              onClick={store}
            >
              {t`Save`}
            </Button>
            <Button variant="subtle" color="gray" onClick={() => setText(current.text)}>
              {t`Discard changes`}
            </Button>
            {!maySave && (
              <Text size="xs" c="dimmed">
                {t`Only administrators save rules.`}
              </Text>
            )}
          </Group>
        </>
      )}
    </Stack>
  );
}

interface PresetsProps {
  current: PolicyRevision;
  text: string;
  onChoose: ((text: string) => void) | undefined;
}

function Presets({ current, text, onChoose }: PresetsProps) {
  const project = useProject();
  const presets = useQuery(presetsQuery(project.id)).data ?? [];
  const chosen = presets.find((preset) => preset.text.trim() === text.trim());
  return (
    <Stack gap={6}>
      <Group gap="xs" role="group" aria-label={t`Presets`}>
        {presets.map((preset) => (
          <Button
            key={preset.name}
            variant={preset === chosen ? 'light' : 'default'}
            size="compact-sm"
            aria-pressed={preset === chosen}
            disabled={!onChoose}
            onClick={() => onChoose?.(preset.text)}
          >
            {preset.name === current.preset
              ? t`${PRESET_WORDS[preset.name]?.title ?? preset.name} (in force)`
              : (PRESET_WORDS[preset.name]?.title ?? preset.name)}
          </Button>
        ))}
      </Group>
      {chosen && (
        <Alert variant="light" color="gray">
          {PRESET_WORDS[chosen.name]?.about ?? ''}
        </Alert>
      )}
    </Stack>
  );
}
