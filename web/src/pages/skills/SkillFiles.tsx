/** The files of a skill, and what is in them. */
import { t } from '@lingui/core/macro';
import { Skeleton, Text, UnstyledButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { FileText } from 'lucide-react';
import { SKILL_FILE, type SkillDetail, skillFileQuery } from '@/api/skills';
import { useProject } from '@/app/project';
import { CodeBlock } from '@/components/CodeBlock';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { useFormats } from '@/components/format';
import { useSearchParam } from '@/components/use-search-param';
import { Markdown } from '@/pages/chat/Markdown';
import classes from './skills.module.css';

export function SkillFiles({ skill }: { skill: SkillDetail }) {
  const [wanted, setWanted] = useSearchParam('file');
  const formats = useFormats();
  const chosen = skill.files.find(({ path }) => path === wanted)?.path ?? SKILL_FILE;
  return (
    <div className={classes.files}>
      <ul className={classes.list} aria-label={t`Files`}>
        {skill.files.map(({ path, size }) => (
          <li key={path}>
            <UnstyledButton
              className={classes.file}
              aria-current={path === chosen}
              onClick={() => setWanted(path)}
            >
              <span>{path}</span>
              <Text span size="xs" c="dimmed">
                {formats.bytes(size)}
              </Text>
            </UnstyledButton>
          </li>
        ))}
      </ul>
      <FilePreview name={skill.name} path={chosen} key={chosen} />
    </div>
  );
}

function FilePreview({ name, path }: { name: string; path: string }) {
  const project = useProject();
  const query = useQuery(skillFileQuery(project.id, name, path));
  if (query.isError && !query.data) {
    return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  }
  if (!query.data) return <Skeleton height={200} aria-busy />;
  const { text, cut } = query.data;
  if (text === null) {
    return (
      <EmptyState icon={FileText} title={t`No preview`}>
        {t`This file is not a text. Export the skill to look at it.`}
      </EmptyState>
    );
  }
  const isProse = path.endsWith('.md') && path !== SKILL_FILE;
  return (
    <div className={classes.preview}>
      {isProse ? (
        <Markdown text={text} />
      ) : (
        <CodeBlock label={path} code={text} maxHeight="36rem" />
      )}
      {cut && (
        <Text size="xs" c="dimmed">
          {t`Only the beginning is shown. Export the skill to see the rest.`}
        </Text>
      )}
    </div>
  );
}
