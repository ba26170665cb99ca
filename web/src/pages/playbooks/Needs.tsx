/** What a playbook needs before it runs: its datasets with their columns and its connections, and what is missing. */
import { t } from '@lingui/core/macro';
import { Anchor, Button, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CircleCheck, TriangleAlert } from 'lucide-react';
import { type Need, needsQuery, type PlaybookDetail } from '@/api/playbooks';
import { projectPath, useMay, useProject } from '@/app/project';
import { Chip } from '@/components/Chip';
import { useSearchParam } from '@/components/use-search-param';
import { OTHER_DATA } from './other-data';
import { OtherDataDialog } from './OtherDataDialog';
import classes from './playbooks.module.css';

const PLACES = {
  dataset: { path: 'datasets', word: t`Load data` },
  connection: { path: 'connections', word: t`Add a connection` },
};

export function Needs({ playbook }: { playbook: PlaybookDetail }) {
  const project = useProject();
  const needs = useQuery(needsQuery(project.id, playbook)).data ?? [];
  const [named, setNamed] = useSearchParam(OTHER_DATA);
  const changed = needs.find(({ kind, name }) => kind === 'dataset' && name === named);
  if (needs.length === 0) return null;
  return (
    <>
      <ul className={classes.files} aria-label={t`What it needs`}>
        {needs.map((need) => (
          <Item
            key={`${need.kind} ${need.name}`}
            need={need}
            onChange={playbook.may_edit && need.columns.length > 0 ? setNamed : null}
          />
        ))}
      </ul>
      {changed && playbook.may_edit && (
        <OtherDataDialog playbook={playbook} need={changed} onClose={() => setNamed(null)} />
      )}
    </>
  );
}

interface ItemProps {
  need: Need;
  onChange: ((name: string) => void) | null;
}

function Item({ need, onChange }: ItemProps) {
  const project = useProject();
  const mayAdd = useMay('editor');
  const { kind, name, read_from, problem, columns } = need;
  return (
    <li className={classes.file}>
      <div className={classes.fileTop}>
        <Text size="sm" fw={600} className={classes.fileName ?? ''}>
          {kind === 'connection' ? t`Connection ${name}` : read_from}
          {read_from !== name && (
            <Text span size="sm" c="dimmed" fw={400}>
              {t` as ${name}`}
            </Text>
          )}
        </Text>
        {problem === null ? (
          <Chip word={t`Ready`} icon={CircleCheck} tone="good" />
        ) : (
          <Chip word={t`Not ready`} icon={TriangleAlert} tone="bad" />
        )}
      </div>
      {columns.length > 0 && (
        <Text size="xs" c="dimmed">
          {columns
            .map((column) =>
              column.read_from === column.name
                ? column.name
                : t`${column.read_from} as ${column.name}`,
            )
            .join(', ')}
        </Text>
      )}
      {problem !== null && (
        <Text size="sm">{`${problem[0]?.toUpperCase() ?? ''}${problem.slice(1)}.`}</Text>
      )}
      <Group gap="md">
        {problem !== null && mayAdd && (
          <Anchor size="xs" component={Link} to={projectPath(project.id, PLACES[kind].path)}>
            {PLACES[kind].word}
          </Anchor>
        )}
        {onChange && (
          <Button
            variant="subtle"
            size="compact-xs"
            aria-label={t`Use other data for ${name}`}
            px={0}
            onClick={() => onChange(name)}
          >
            {t`Use other data`}
          </Button>
        )}
      </Group>
    </li>
  );
}
