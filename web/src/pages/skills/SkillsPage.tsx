/** All skills of the project: built-in ones, own ones, and which of them agents use. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Anchor, Button, FileButton, Group, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { FileDown, GraduationCap, Plus } from 'lucide-react';
import { usePersonName } from '@/api/members';
import { itemsOf } from '@/api/lists';
import { type SkillInfo, skillsQuery, useRestoreSkill } from '@/api/skills';
import { useMay, useProject } from '@/app/project';
import { type Column, DataTable } from '@/components/DataTable';
import { EmptyState } from '@/components/EmptyState';
import { RelativeTime } from '@/components/Moment';
import { Page } from '@/components/Page';
import { Section } from '@/components/Section';
import { showDone, showFailure } from '@/components/undo';
import { useDialog } from '@/components/use-search-param';
import { useFileDrop } from '@/pages/datasets/use-file-drop';
import { NewSkillDialog } from './NewSkillDialog';
import { OriginChip } from './OriginChip';
import { SkillSwitch } from './SkillSwitch';
import { useImport } from './use-import';
import classes from './skills.module.css';

export default function SkillsPage() {
  const project = useProject();
  const mayEdit = useMay('editor');
  const query = useInfiniteQuery(skillsQuery(project.id));
  const dialog = useDialog('write');
  const bring = useImport(project.id);
  const isOver = useFileDrop(bring, mayEdit);
  const actions = mayEdit && (
    <>
      <FileButton accept=".zip,application/zip" multiple onChange={bring}>
        {(props) => (
          <Button variant="default" leftSection={<FileDown size={14} aria-hidden />} {...props}>
            {t`Import a zip`}
          </Button>
        )}
      </FileButton>
      <Button leftSection={<Plus size={14} aria-hidden />} onClick={dialog.open}>
        {t`Write a skill`}
      </Button>
    </>
  );
  return (
    <Page
      title={t`Skills`}
      description={t`Instructions that agents follow for a kind of work, with references and scripts. Agents see the names of all that are switched on, and open one when they need it. Drop a zip anywhere to import it.`}
      actions={actions}
    >
      {isOver && <div className={classes.drop}>{t`Drop the archive to import its skills`}</div>}
      <DataTable
        label={t`Skills`}
        columns={COLUMNS}
        query={query}
        rowKey={({ name }) => name}
        isFaded={({ enabled }) => !enabled}
        empty={<EmptyState icon={GraduationCap} picture="cards" title={t`No skills yet`} />}
      />
      {mayEdit && <DeletedSkills />}
      <NewSkillDialog opened={mayEdit && dialog.opened} onClose={dialog.close} />
    </Page>
  );
}

function SkillLink({ name }: { name: string }) {
  const project = useProject();
  return (
    <Anchor component={Link} to={`/p/${project.id}/skills/${name}`} fw={600} size="sm">
      {name}
    </Anchor>
  );
}

const COLUMNS: Column<SkillInfo>[] = [
  {
    id: 'name',
    header: t`Skill`,
    cell: ({ name, description }) => (
      <>
        <SkillLink name={name} />
        <Text size="sm" c="dimmed" lineClamp={2} className={classes.about}>
          {description}
        </Text>
      </>
    ),
  },
  {
    id: 'origin',
    header: t`From`,
    width: '12rem',
    hideBelow: 'sm',
    cell: (skill) => <OriginChip {...skill} />,
  },
  {
    id: 'changed',
    header: t`Version`,
    width: '13rem',
    hideBelow: 'md',
    cell: (skill) => <Changed skill={skill} />,
  },
  {
    id: 'enabled',
    header: t`On`,
    width: '5rem',
    align: 'end',
    cell: (skill) => (
      <Group justify="flex-end">
        <SkillSwitch skill={skill} />
      </Group>
    ),
  },
];

function Changed({ skill }: { skill: SkillInfo }) {
  const project = useProject();
  const nameOf = usePersonName(project.id);
  const { version, updated_at, updated_by } = skill;
  if (version === 0 || updated_at === null) return null;
  const author = updated_by === null ? null : nameOf(updated_by);
  return (
    <>
      <Trans>
        {version}, <RelativeTime value={updated_at} /> by {author ?? t`a former member`}
      </Trans>
    </>
  );
}

function DeletedSkills() {
  const project = useProject();
  const items = itemsOf(useInfiniteQuery(skillsQuery(project.id, true)).data);
  const restore = useRestoreSkill(project.id);
  if (items.length === 0) return null;
  return (
    <Section title={t`Deleted`} framed>
      <ul className={classes.deleted}>
        {items.map(({ name, version }) => (
          <li key={name}>
            <Text span size="sm">
              {t`${name}, version ${version}`}
            </Text>
            <Button
              variant="subtle"
              size="compact-sm"
              aria-label={t`Restore ${name}`}
              onClick={() =>
                restore.mutate(name, {
                  onSuccess: () => showDone(t`${name} is back`),
                  onError: showFailure,
                })
              }
            >
              {t`Restore`}
            </Button>
          </li>
        ))}
      </ul>
    </Section>
  );
}
