/** The tools of an agent, what their arguments are for, the most it may do, and the skills it follows. */
import { t } from '@lingui/core/macro';
import { Group, MultiSelect, Select, Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { itemsOf } from '@/api/lists';
import type { Tool } from '@/api/run-types';
import { skillsQuery } from '@/api/skills';
import { toolsQuery } from '@/api/tools';
import { useProject } from '@/app/project';
import { ARGUMENT_ROLES, type ArgumentRole } from '@/components/argument-roles';
import { RiskChip, riskWord } from '@/components/RiskChip';
import type { PartProps } from './Composer';
import classes from './agents.module.css';

const MOST_TOOLS = 8;
/** What agents may be given at all; the graver classes are for people. */
const RISKS = ['read', 'compute', 'write', 'external_send', 'destructive'];

export function Tools({ draft, readOnly, set, problemAt }: PartProps) {
  const project = useProject();
  const tools = useQuery(toolsQuery(project.id)).data ?? [];
  const skills = itemsOf(useInfiniteQuery(skillsQuery(project.id)).data);
  const chosen = draft.tools ?? [];
  const shown = tools.filter(({ name }) => chosen.includes(name));
  const risk = draft.highest_risk ?? 'compute';
  const missing = chosen.filter((name) => !tools.some((tool) => tool.name === name));
  const choices = [
    ...tools.map(({ name, title }) => ({ value: name, label: title })),
    ...missing.map((name) => ({ value: name, label: name })),
  ];
  return (
    <fieldset className={classes.group}>
      <legend>{t`What it may do`}</legend>
      <MultiSelect
        label={t`Tools`}
        description={t`At most ${MOST_TOOLS}. It sees no others, and each call is checked by policy.`}
        data={choices}
        value={chosen}
        searchable
        maxValues={readOnly ? Infinity : MOST_TOOLS}
        readOnly={readOnly}
        error={problemAt('/tools')}
        onChange={(names) => set({ tools: names.length === 0 ? undefined : names })}
      />
      {shown.length > 0 && (
        <ul className={classes.tools} aria-label={t`What the tools take`}>
          {shown.map((tool) => (
            <ToolLine key={tool.name} tool={tool} />
          ))}
        </ul>
      )}
      <div className={classes.pair}>
        <Select
          label={t`May do at most`}
          description={t`Tools of a graver class are refused.`}
          data={RISKS.map((value) => ({ value, label: riskWord(value) }))}
          value={risk}
          allowDeselect={false}
          readOnly={readOnly}
          error={problemAt('/highest_risk')}
          onChange={(value) =>
            set({ highest_risk: value === 'compute' ? undefined : (value ?? undefined) })
          }
        />
        <MultiSelect
          label={t`Skills`}
          description={t`Instructions that it follows, at most four.`}
          data={[
            ...new Set([
              ...skills.filter(({ enabled }) => enabled).map(({ name }) => name),
              ...(draft.skills ?? []),
            ]),
          ]}
          value={draft.skills ?? []}
          searchable
          maxValues={4}
          readOnly={readOnly}
          error={problemAt('/skills')}
          onChange={(names) => set({ skills: names.length === 0 ? undefined : names })}
        />
      </div>
    </fieldset>
  );
}

function ToolLine({ tool }: { tool: Tool }) {
  return (
    <li>
      <Group gap="xs" justify="space-between">
        <Text span size="sm" fw={500}>
          {tool.title}
        </Text>
        <RiskChip risk={tool.risk} />
      </Group>
      <ul className={classes.arguments} aria-label={t`Arguments of ${tool.title}`}>
        {rolesOf(tool).map(({ name, role }) => (
          <li key={name} title={ARGUMENT_ROLES[role].help}>
            <code>{name}</code>: {ARGUMENT_ROLES[role].word}
          </li>
        ))}
      </ul>
    </li>
  );
}

interface Property {
  'x-role'?: string;
  items?: Property;
  anyOf?: Property[];
  $ref?: string;
}

/** What each argument is for; one whose parts say it themselves is a group of several. */
function rolesOf({ arguments: schema }: Tool): { name: string; role: ArgumentRole }[] {
  const properties = (schema.properties ?? {}) as Record<string, Property>;
  return Object.entries(properties).map(([name, property]) => ({
    name,
    role: roleOf(property) ?? (hasParts(property) ? 'content' : 'undeclared'),
  }));
}

function roleOf(property: Property): ArgumentRole | null {
  const role = property['x-role'] ?? property.items?.['x-role'];
  return role !== undefined && role in ARGUMENT_ROLES ? (role as ArgumentRole) : null;
}

function hasParts({ $ref, items, anyOf }: Property): boolean {
  return [{ $ref }, items, ...(anyOf ?? [])].some((each) => each?.$ref !== undefined);
}
