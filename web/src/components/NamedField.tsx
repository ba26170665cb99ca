/** A field that names something of the project: a connection, a secret, an agent, a skill, tools. */
import { t } from '@lingui/core/macro';
import { MultiSelect, Select, TextInput } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { connectionsQuery } from '@/api/connections';
import { flowPaletteQuery } from '@/api/flows';
import { itemsOf } from '@/api/lists';
import { secretsQuery } from '@/api/secrets';
import { skillsQuery } from '@/api/skills';
import { toolsQuery } from '@/api/tools';
import { useProject } from '@/app/project';
import type { FieldValue } from './schema-form';
import type { NamedThing } from './tool-form';

interface Choice {
  value: string;
  label: string;
}

interface Props {
  about: { label: string; description: string; error: ReactNode; withAsterisk: boolean };
  names: NamedThing;
  value: FieldValue;
  onChange: (value: string | string[]) => void;
}

export function NamedField({ about, names, value, onChange }: Props) {
  const choices = useChoices(names);
  const chosen = (Array.isArray(value) ? value : [value]).map(String).filter(Boolean);
  // What is named and not there stays visible: the check says what is wrong with it.
  const missing = chosen.filter((name) => !choices?.some((choice) => choice.value === name));
  const data = [...(choices ?? []), ...missing.map((name) => ({ value: name, label: name }))];
  if (names === 'tools') {
    return <MultiSelect {...about} data={data} value={chosen} searchable onChange={onChange} />;
  }
  if (choices === null) {
    // Not everybody may list them; the name can still be typed.
    return (
      <TextInput
        {...about}
        value={chosen[0] ?? ''}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
    );
  }
  return (
    <Select
      {...about}
      data={data}
      value={chosen[0] ?? null}
      searchable
      clearable={!about.withAsterisk}
      placeholder={choices.length === 0 ? t`There is none yet` : t`Choose`}
      onChange={(next) => onChange(next ?? '')}
    />
  );
}

/** Null where the reader may not list them. */
function useChoices(names: NamedThing): Choice[] | null {
  const { id } = useProject();
  const connections = useInfiniteQuery({
    ...connectionsQuery(id),
    enabled: names === 'connection',
  });
  const secrets = useInfiniteQuery({ ...secretsQuery(id), enabled: names === 'secret' });
  const skills = useInfiniteQuery({ ...skillsQuery(id), enabled: names === 'skill' });
  const palette = useQuery({ ...flowPaletteQuery(id), enabled: names === 'agent' });
  const tools = useQuery({ ...toolsQuery(id), enabled: names === 'tools' });
  const named = ({ name }: { name: string }): Choice => ({ value: name, label: name });
  const titled = ({ name, title }: { name: string; title: string }): Choice => ({
    value: name,
    label: title,
  });
  switch (names) {
    case 'connection':
      return connections.isError ? null : itemsOf(connections.data).map(named);
    case 'secret':
      return secrets.isError ? null : itemsOf(secrets.data).map(named);
    case 'skill':
      return skills.isError ? null : itemsOf(skills.data).map(named);
    case 'agent':
      return (palette.data?.agents ?? []).map(titled);
    case 'tools':
      return (tools.data ?? []).map(titled);
  }
}
