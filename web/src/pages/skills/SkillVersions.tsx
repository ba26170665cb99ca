/** Versions of a skill, newest first, each with what it changed; an earlier one can be taken up again. */
import { t } from '@lingui/core/macro';
import { Button, Skeleton, Text, UnstyledButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { ChevronRight, History } from 'lucide-react';
import { useState } from 'react';
import { usePersonName } from '@/api/members';
import {
  type SkillDetail,
  skillDiffQuery,
  type SkillFileChange,
  type SkillVersion,
  skillVersionsQuery,
  useRestoreSkillVersion,
} from '@/api/skills';
import { useMay, useProject } from '@/app/project';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { useFormats } from '@/components/format';
import { showDone, showFailure } from '@/components/undo';
import classes from './skills.module.css';

export function SkillVersions({ skill }: { skill: SkillDetail }) {
  const project = useProject();
  const query = useQuery(skillVersionsQuery(project.id, skill.name));
  if (query.isError && !query.data) {
    return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  }
  if (!query.data) return <Skeleton height={80} aria-busy />;
  if (query.data.length === 0) {
    return (
      <EmptyState icon={History} title={t`Never changed here`}>
        {t`This is the built-in skill. A change makes the project’s own version of it, which replaces the built-in one here and nowhere else.`}
      </EmptyState>
    );
  }
  // What a first version is compared with: the built-in skill it replaces, where there is one.
  const first = skill.shadows ? 0 : null;
  return (
    <ol className={classes.history} reversed>
      {query.data.map((version, index) => (
        <OneVersion
          key={version.version}
          skill={skill}
          version={version}
          before={query.data[index + 1]?.version ?? first}
        />
      ))}
    </ol>
  );
}

interface Props {
  skill: SkillDetail;
  version: SkillVersion;
  before: number | null;
}

function OneVersion({ skill, version, before }: Props) {
  const project = useProject();
  const nameOf = usePersonName(project.id);
  const formats = useFormats();
  const mayEdit = useMay('editor');
  const isCurrent = version.version === skill.version;
  const [opened, setOpened] = useState(isCurrent);
  const restore = useRestoreSkillVersion(project.id);
  const onRestore = () =>
    restore.mutate(
      { name: skill.name, version: version.version, revision: skill.revision },
      {
        onSuccess: () => showDone(t`Version ${version.version} is in force again`),
        onError: showFailure,
      },
    );
  return (
    <li className={classes.version}>
      <div className={classes.line}>
        <UnstyledButton
          className={classes.opener}
          aria-expanded={opened}
          onClick={() => setOpened(!opened)}
        >
          <ChevronRight size={14} aria-hidden className={classes.chevron} />
          <span>
            <Text span size="sm" fw={600}>
              {isCurrent
                ? t`${version.version}. ${version.message || t`Changed`} (in force)`
                : `${version.version}. ${version.message || t`Changed`}`}
            </Text>
            <Text size="xs" c="dimmed">
              {nameOf(version.author) ?? t`A former member`}, {formats.dateTime(version.created_at)}
            </Text>
          </span>
        </UnstyledButton>
        {mayEdit && !isCurrent && (
          <Button
            variant="default"
            size="compact-sm"
            loading={restore.isPending}
            aria-label={t`Use again: version ${version.version}`}
            onClick={onRestore}
          >
            {t`Use again`}
          </Button>
        )}
      </div>
      {opened && (before === null ? <FirstFiles version={version} /> : null)}
      {opened && before !== null && (
        <VersionDiff name={skill.name} before={before} after={version.version} />
      )}
    </li>
  );
}

function FirstFiles({ version }: { version: SkillVersion }) {
  return (
    <Text size="sm" c="dimmed" className={classes.inner}>
      {t`The first version, with ${version.files.map(({ path }) => path).join(', ')}.`}
    </Text>
  );
}

function VersionDiff({ name, before, after }: { name: string; before: number; after: number }) {
  const project = useProject();
  const query = useQuery(skillDiffQuery(project.id, name, before, after));
  if (query.isError) return <ErrorState error={query.error} />;
  if (!query.data) return <Skeleton height={60} aria-busy />;
  if (query.data.length === 0) {
    return (
      <Text size="sm" c="dimmed" className={classes.inner}>
        {before === 0
          ? t`Nothing differs from the built-in skill.`
          : t`Nothing differs from version ${before}.`}
      </Text>
    );
  }
  return query.data.map((change) => <FileDiff key={change.path} change={change} />);
}

const KINDS: Record<string, string> = { '+': 'added', '-': 'removed', '@': 'place' };
const WORDS: Record<string, string> = { added: 'new', removed: 'removed', changed: 'changed' };

function FileDiff({ change }: { change: SkillFileChange }) {
  const { path, kind, lines, cut } = change;
  return (
    <>
      <Text size="xs" fw={600} className={classes.inner}>
        {path} ({WORDS[kind] ?? kind})
      </Text>
      {lines.length > 0 && (
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
        <pre className={classes.diff} tabIndex={0} role="group" aria-label={t`Changes of ${path}`}>
          {lines.map((line, index) => (
            <div key={index} data-kind={KINDS[line.charAt(0)] ?? 'same'}>
              {line || ' '}
            </div>
          ))}
        </pre>
      )}
      {cut && (
        <Text size="xs" c="dimmed" className={classes.inner}>
          {t`The rest is left out.`}
        </Text>
      )}
    </>
  );
}
