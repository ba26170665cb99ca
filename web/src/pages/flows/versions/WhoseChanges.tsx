/** Whose changes go out with a deployment: everybody who saved a revision since the one that runs. */
import { plural, t } from '@lingui/core/macro';
import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { usePersonName } from '@/api/members';
import { draftsQuery, type PlaybookRevision } from '@/api/playbooks';
import { useProject } from '@/app/project';

interface Between {
  revisions: readonly Pick<PlaybookRevision, 'number' | 'author'>[];
  deployed: number | null;
  revision: number;
}

/** How many revisions of each person lie between the two, the newest person first. */
export function authorsBetween({ revisions, deployed, revision }: Between): [string, number][] {
  const [first, last] = [Math.min(deployed ?? 0, revision), Math.max(deployed ?? 0, revision)];
  const counts = new Map<string, number>();
  for (const { number, author } of revisions) {
    if (number > first && number <= last) counts.set(author, (counts.get(author) ?? 0) + 1);
  }
  return [...counts];
}

export function WhoseChanges({ playbookId, ...props }: Between & { playbookId: string }) {
  const project = useProject();
  const nameOf = usePersonName(project.id);
  const drafts = useQuery(draftsQuery(project.id, playbookId)).data ?? [];
  const authors = authorsBetween(props);
  const told = authors.map(([author, count]) =>
    plural(count, {
      one: `${nameOf(author) ?? t`somebody who left`} (${count} revision)`,
      other: `${nameOf(author) ?? t`somebody who left`} (${count} revisions)`,
    }),
  );
  const unsaved = drafts.map(({ user_id }) => nameOf(user_id) ?? t`somebody who left`);
  const isBack = props.deployed !== null && props.revision < props.deployed;
  return (
    <>
      {told.length > 0 && (
        <Text size="sm">
          {isBack
            ? t`This takes back changes by ${told.join(', ')}.`
            : t`This deploys changes by ${told.join(', ')}.`}
        </Text>
      )}
      {unsaved.length > 0 && (
        <Text size="sm">{t`Drafts that are not saved stay out of it: ${unsaved.join(', ')}.`}</Text>
      )}
    </>
  );
}
