/** Everything that waits for the signed-in person, what ends soonest first. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Kbd, Skeleton, Stack, Text } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Inbox } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { inboxQuery } from '@/api/inbox';
import type { Waiting } from '@/api/run-types';
import { projectPath, useProject } from '@/app/project';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { Page } from '@/components/Page';
import { SendBanner } from '@/components/waiting/SendBanner';
import { useSearchParam } from '@/components/use-search-param';
import { InboxItem } from './InboxItem';
import classes from './inbox.module.css';
import { idOf, neighbour } from './selection';

export default function InboxPage() {
  const project = useProject();
  const query = useQuery(inboxQuery(project.id));
  return (
    <Page
      title={t`Inbox`}
      description={t`Runs that need your decision or an answer. What you approve is exactly what happens: Steward checks its hash again.`}
    >
      <SendBanner />
      {query.isPending && (
        <Stack gap="sm" aria-busy>
          <Skeleton height={56} />
          <Skeleton height={56} />
        </Stack>
      )}
      {query.isError && !query.data && (
        <ErrorState error={query.error} retry={() => void query.refetch()} />
      )}
      {query.data && <Items items={query.data} />}
    </Page>
  );
}

function Items({ items }: { items: Waiting[] }) {
  const project = useProject();
  const navigate = useNavigate();
  const [wanted] = useSearchParam('item');
  const found = items.findIndex((item) => idOf(item) === wanted);
  const [place, setPlace] = useState(0);
  // After a decision, the item that took its place is next.
  const at = found === -1 ? Math.min(place, items.length - 1) : found;
  if (found !== -1 && found !== place) setPlace(found);
  const selected = items[at];
  const shown = selected && idOf(selected);
  const before = useRef(shown);
  useEffect(() => {
    if (shown !== undefined && before.current !== undefined && before.current !== shown) {
      document.getElementById(shown)?.scrollIntoView({ block: 'start' });
    }
    before.current = shown;
  }, [shown]);
  const select = (item: Waiting | undefined) => {
    if (!item) return;
    void navigate({ to: '.', replace: true, search: { item: idOf(item) } });
  };
  useHotkeys([
    ['j', () => select(neighbour(items, selected, 1))],
    ['k', () => select(neighbour(items, selected, -1))],
  ]);
  useHotkeys(
    [
      [
        'Enter',
        () =>
          selected?.may_open &&
          void navigate({ to: projectPath(project.id, 'runs', selected.run_id) }),
      ],
    ],
    // On a button Enter presses it.
    ['INPUT', 'TEXTAREA', 'SELECT', 'BUTTON', 'A', 'SUMMARY'],
  );
  if (items.length === 0) {
    return (
      <div className={classes.frame}>
        <EmptyState icon={Inbox} picture="inbox" title={t`Nothing waits for you`}>
          {t`When a run needs an approval, an answer or more budget, it appears here.`}
        </EmptyState>
      </div>
    );
  }
  return (
    <div>
      <ul className={classes.list} aria-label={t`Waiting for you`}>
        {items.map((item) => (
          <InboxItem
            key={idOf(item)}
            item={item}
            isOpen={item === selected}
            onOpen={() => select(item)}
          />
        ))}
      </ul>
      <Text size="xs" c="dimmed" mt="md" visibleFrom="sm">
        <Trans>
          <Kbd size="xs">J</Kbd> <Kbd size="xs">K</Kbd> move · <Kbd size="xs">A</Kbd> approve ·{' '}
          <Kbd size="xs">R</Kbd> reject · <Kbd size="xs">E</Kbd> edit · <Kbd size="xs">Enter</Kbd>{' '}
          open the run
        </Trans>
      </Text>
    </div>
  );
}
