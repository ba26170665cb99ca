/** Changes a skill's files; what is wrong is said while one writes, and saving makes a new version. */
import { t } from '@lingui/core/macro';
import { Alert, Button, Group, Select, Skeleton, Stack, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import {
  SKILL_FILE,
  type SkillDetail,
  type SkillFault,
  skillCheckQuery,
  skillFileQuery,
  useRestoreSkillVersion,
  useSaveSkill,
} from '@/api/skills';
import { useProject } from '@/app/project';
import { CodeField } from '@/components/CodeField';
import { FormError } from '@/components/FormError';
import { offerUndo, showDone } from '@/components/undo';

/** A file's new text; null takes it away. */
type Edits = Record<string, string | null>;

export function SkillEditor({ skill }: { skill: SkillDetail }) {
  const [edits, setEdits] = useState<Edits>({});
  const [path, setPath] = useState(SKILL_FILE);
  const [message, setMessage] = useState('');
  const { faults, warnings, isChecking } = useCheck(skill, edits);
  const save = useSave(skill);
  const isChanged = Object.keys(edits).length > 0;
  const set = (text: string | null) => setEdits({ ...edits, [path]: text });
  return (
    <Stack>
      {skill.origin === 'builtin' && (
        <Alert variant="light" color="gray">
          {t`Saving makes this project’s own version, which replaces the built-in skill here.`}
        </Alert>
      )}
      <FileChoice skill={skill} edits={edits} path={path} onPath={setPath} onEdits={setEdits} />
      <FileText
        key={path}
        skill={skill}
        path={path}
        edited={edits[path]}
        faults={faults}
        warnings={warnings}
        isChecking={isChecking}
        onChange={set}
      />
      <TextInput
        label={t`Why`}
        description={t`Kept with the version.`}
        value={message}
        maxLength={400}
        maw="36rem"
        onChange={({ currentTarget }) => setMessage(currentTarget.value)}
      />
      <FormError error={save.error} />
      <Group gap="xs">
        <Button
          loading={save.isPending}
          disabled={!isChanged || faults.length > 0 || isChecking}
          onClick={() => save.store(edits, message)}
        >
          {t`Save as a new version`}
        </Button>
        {isChanged && (
          <Button variant="subtle" color="gray" onClick={() => setEdits({})}>
            {t`Discard changes`}
          </Button>
        )}
      </Group>
    </Stack>
  );
}

function parts(skill: SkillDetail, edits: Edits) {
  const { [SKILL_FILE]: head, ...files } = edits;
  return { skill_md: head ?? skill.skill_md, files };
}

function useCheck(skill: SkillDetail, edits: Edits) {
  const project = useProject();
  const [settled] = useDebouncedValue(edits, 350);
  const query = useQuery(
    skillCheckQuery(project.id, { name: skill.name, ...parts(skill, settled) }),
  );
  return {
    faults: query.data?.faults ?? [],
    warnings: query.data?.warnings ?? [],
    isChecking: query.isFetching || settled !== edits,
  };
}

function useSave(skill: SkillDetail) {
  const project = useProject();
  const save = useSaveSkill(project.id);
  const restore = useRestoreSkillVersion(project.id);
  const { name, version, origin } = skill;
  const store = (edits: Edits, message: string) =>
    save.mutate(
      { name, ...parts(skill, edits), message: message.trim(), revision: skill.revision },
      {
        onSuccess: (saved) => {
          if (origin === 'builtin') showDone(t`${name} is now this project’s own`);
          else {
            offerUndo({
              message: t`Saved as version ${saved.version}`,
              undo: () => restore.mutateAsync({ name, version, revision: saved.revision }),
              undone: t`${name} is as before`,
            });
          }
        },
      },
    );
  return { store, isPending: save.isPending, error: save.error };
}

interface ChoiceProps {
  skill: SkillDetail;
  edits: Edits;
  path: string;
  onPath: (path: string) => void;
  onEdits: (edits: Edits) => void;
}

function FileChoice({ skill, edits, path, onPath, onEdits }: ChoiceProps) {
  const [added, setAdded] = useState('');
  const known = skill.files.map((file) => file.path);
  const made = Object.keys(edits).filter((each) => !known.includes(each));
  const paths = [...known, ...made].filter((each) => edits[each] !== null);
  const add = () => {
    const name = added.trim();
    if (name !== '' && !paths.includes(name)) onEdits({ ...edits, [name]: '' });
    if (name !== '') onPath(name);
    setAdded('');
  };
  return (
    <Group align="flex-end" gap="xs">
      <Select
        label={t`File`}
        data={paths}
        value={path}
        allowDeselect={false}
        maw="24rem"
        onChange={(next) => onPath(next ?? SKILL_FILE)}
      />
      {path !== SKILL_FILE && (
        <Button
          variant="default"
          onClick={() => {
            onEdits({ ...edits, [path]: null });
            onPath(SKILL_FILE);
          }}
        >
          {t`Remove file`}
        </Button>
      )}
      <TextInput
        label={t`New file`}
        placeholder="references/terms.md"
        value={added}
        maxLength={200}
        onChange={({ currentTarget }) => setAdded(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') add();
        }}
      />
      <Button variant="default" disabled={added.trim() === ''} onClick={add}>
        {t`Add file`}
      </Button>
    </Group>
  );
}

interface TextProps {
  skill: SkillDetail;
  path: string;
  edited: string | null | undefined;
  faults: SkillFault[];
  warnings: SkillFault[];
  isChecking: boolean;
  onChange: (text: string) => void;
}

function FileText({ skill, path, edited, faults, warnings, isChecking, onChange }: TextProps) {
  const project = useProject();
  const isKept = skill.files.some((file) => file.path === path);
  const query = useQuery({
    ...skillFileQuery(project.id, skill.name, path),
    enabled: isKept && typeof edited !== 'string',
  });
  const text = edited ?? (isKept ? query.data?.text : '');
  if (text === undefined) return <Skeleton height={240} aria-busy />;
  if (text === null || query.data?.cut === true) {
    return (
      <Alert color="gray">{t`This file cannot be edited here. Import the skill again.`}</Alert>
    );
  }
  const problems = [...faults, ...warnings].map((fault) => ({
    place: fault.line === null ? fault.path : t`${fault.path}, line ${fault.line}`,
    message: fault.message,
    // A line can be shown only in the file that is open.
    ...(fault.path === path && fault.line !== null ? { line: fault.line } : {}),
  }));
  return (
    <CodeField
      label={path}
      value={text}
      onChange={onChange}
      problems={problems}
      fine={t`Nothing is wrong with it.`}
      isChecking={isChecking}
      minRows={18}
    />
  );
}
