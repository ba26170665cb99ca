/** One skill: its instructions, files, tools and versions; editors change it here. */
import { t } from '@lingui/core/macro';
import { Alert, Button, Skeleton, Tabs, VisuallyHidden } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { FileUp, Trash2 } from 'lucide-react';
import {
  exportAddress,
  type SkillDetail,
  skillQuery,
  useDeleteSkill,
  useRestoreSkill,
} from '@/api/skills';
import { useMay, useProject } from '@/app/project';
import { ErrorState } from '@/components/ErrorState';
import { Page } from '@/components/Page';
import { TabStrip } from '@/components/TabStrip';
import { offerUndo, showFailure } from '@/components/undo';
import { usePathParam } from '@/components/use-path-param';
import { useSearchParam } from '@/components/use-search-param';
import { Markdown } from '@/pages/chat/Markdown';
import { OriginChip } from './OriginChip';
import { SkillEditor } from './SkillEditor';
import { SkillFiles } from './SkillFiles';
import { SkillSwitch } from './SkillSwitch';
import { SkillTools } from './SkillTools';
import { SkillVersions } from './SkillVersions';
import classes from './skills.module.css';

const TABS = [
  { id: 'instructions', label: t`Instructions` },
  { id: 'files', label: t`Files` },
  { id: 'tools', label: t`Tools` },
  { id: 'versions', label: t`Versions` },
  { id: 'edit', label: t`Edit` },
];

export default function SkillPage() {
  const name = usePathParam('skill') ?? '';
  const project = useProject();
  const query = useQuery(skillQuery(project.id, name));
  const parent = { label: t`Skills`, to: `/p/${project.id}/skills` };
  if (query.isError && !query.data) {
    return (
      <Page title={name} parent={parent}>
        <ErrorState error={query.error} retry={() => void query.refetch()} />
      </Page>
    );
  }
  if (!query.data) {
    return (
      <Page title={name} parent={parent}>
        <Skeleton height={240} aria-busy />
      </Page>
    );
  }
  return <Loaded skill={query.data} parent={parent} />;
}

interface Props {
  skill: SkillDetail;
  parent: { label: string; to: string };
}

function Loaded({ skill, parent }: Props) {
  const mayEdit = useMay('editor');
  const navigate = useNavigate();
  const [wanted] = useSearchParam('tab');
  const tabs = TABS.filter(({ id }) => mayEdit || id !== 'edit');
  const tab = tabs.some(({ id }) => id === wanted) ? wanted : 'instructions';
  return (
    <Tabs
      value={tab}
      keepMounted={false}
      onChange={(id) =>
        void navigate({ to: '.', search: id === 'instructions' || id === null ? {} : { tab: id } })
      }
    >
      <Page
        title={skill.name}
        description={skill.description}
        parent={parent}
        actions={<Actions skill={skill} />}
        toolbar={<TabStrip tabs={tabs} value={tab} />}
      >
        <Warnings skill={skill} />
        <Tabs.Panel value="instructions">
          {/* The headings of the text begin on the third level. */}
          <VisuallyHidden component="h2">{t`Instructions`}</VisuallyHidden>
          <Markdown text={skill.body} />
        </Tabs.Panel>
        <Tabs.Panel value="files">
          <SkillFiles skill={skill} />
        </Tabs.Panel>
        <Tabs.Panel value="tools">
          <SkillTools skill={skill} />
        </Tabs.Panel>
        <Tabs.Panel value="versions">
          <SkillVersions skill={skill} />
        </Tabs.Panel>
        <Tabs.Panel value="edit">
          {/* A revision that somebody else saved starts the editor anew. */}
          <SkillEditor key={skill.digest} skill={skill} />
        </Tabs.Panel>
      </Page>
    </Tabs>
  );
}

function Actions({ skill }: { skill: SkillDetail }) {
  const project = useProject();
  const navigate = useNavigate();
  const mayEdit = useMay('editor');
  const remove = useDeleteSkill(project.id);
  const restore = useRestoreSkill(project.id);
  const { name } = skill;
  const onDelete = () =>
    remove.mutate(name, {
      onSuccess: () => {
        offerUndo({
          message: t`${name} deleted`,
          undo: () => restore.mutateAsync(name),
          undone: t`${name} is back`,
        });
        void navigate({ to: `/p/${project.id}/skills` });
      },
      onError: showFailure,
    });
  return (
    <>
      <OriginChip {...skill} />
      <SkillSwitch skill={skill} withLabel />
      <Button
        component="a"
        href={exportAddress(project.id, name)}
        download
        variant="default"
        leftSection={<FileUp size={14} aria-hidden />}
      >
        {t`Export`}
      </Button>
      {mayEdit && skill.origin === 'project' && (
        <Button
          variant="default"
          leftSection={<Trash2 size={14} aria-hidden />}
          onClick={onDelete}
          loading={remove.isPending}
        >
          {t`Delete`}
        </Button>
      )}
    </>
  );
}

function Warnings({ skill }: { skill: SkillDetail }) {
  if (skill.warnings.length === 0) return null;
  return (
    <Alert variant="light" color="yellow" title={t`Worth a look`}>
      <ul className={classes.warnings}>
        {skill.warnings.map(({ path, line, message }, index) => (
          <li key={index}>
            <code>{line === null ? path : `${path}:${line}`}</code> {message}
          </li>
        ))}
      </ul>
    </Alert>
  );
}
