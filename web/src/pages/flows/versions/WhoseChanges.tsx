/** Whose changes go out with a deployment: everybody who saved a revision since the one that runs. */
import { Text } from '@mantine/core';
import { usePersonName } from '@/api/members';
import type { PlaybookRevision } from '@/api/playbooks';
import { useProject } from '@/app/project';

interface Props {
  revisions: readonly Pick<PlaybookRevision, 'number' | 'author'>[];
  deployed: number | null;
  revision: number;
}

/** How many revisions of each person lie between the two, the newest person first. */
export function authorsBetween({ revisions, deployed, revision }: Props): [string, number][] {
  const [first, last] = [Math.min(deployed ?? 0, revision), Math.max(deployed ?? 0, revision)];
  const counts = new Map<string, number>();
  for (const { number, author } of revisions) {
    if (number > first && number <= last) counts.set(author, (counts.get(author) ?? 0) + 1);
  }
  return [...counts];
}

export function WhoseChanges(props: Props) {
  const nameOf = usePersonName(useProject().id);
  const authors = authorsBetween(props);
  if (authors.length === 0) return null;
  const told = authors.map(
    ([author, count]) =>
      `${nameOf(author) ?? 'somebody who left'} (${count} ${count === 1 ? 'revision' : 'revisions'})`,
  );
  const isBack = props.deployed !== null && props.revision < props.deployed;
  return (
    <Text size="sm">
      {isBack ? 'This takes back changes by' : 'This deploys changes by'} {told.join(', ')}.
    </Text>
  );
}
