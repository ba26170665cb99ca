/** What waits for the signed-in person, and which runs are under way. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Anchor, Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Inbox, Play } from 'lucide-react';
import { inboxQuery } from '@/api/inbox';
import { itemsOf } from '@/api/lists';
import { type RunFilter, runsQuery } from '@/api/runs';
import { projectPath } from '@/app/project';
import { RelativeTime } from '@/components/Moment';
import { Section } from '@/components/Section';
import { askedIn } from '@/components/waiting/asked';
import { idOf } from '@/pages/inbox/selection';
import classes from './home.module.css';

const SHOWN = 3;
const RUNNING: RunFilter = { statuses: ['running'], text: '', mine: false, byHand: false };

export default function WaitingHere({ projectId }: { projectId: string }) {
  const { data: waiting = [] } = useQuery(inboxQuery(projectId));
  const running = itemsOf(useInfiniteQuery(runsQuery(projectId, RUNNING)).data).slice(0, SHOWN);
  if (waiting.length + running.length === 0) return null;
  const inbox = projectPath(projectId, 'inbox');
  return (
    <Section
      title={waiting.length > 0 ? t`Waiting for you` : t`Running now`}
      actions={
        waiting.length > SHOWN && (
          <Anchor component={Link} to={inbox} size="xs">
            {t`See all ${waiting.length}`}
          </Anchor>
        )
      }
    >
      <ul className={classes.list}>
        {waiting.slice(0, SHOWN).map((item) => (
          <li key={idOf(item)}>
            <Link to={`${inbox}?item=${idOf(item)}`} className={classes.step}>
              <Inbox size={16} aria-hidden />
              <span>
                <span className={classes.label}>{askedIn(item)}</span>
                <span className={classes.why}>
                  {item.run_title} · <RelativeTime value={item.asked_at} />
                </span>
              </span>
            </Link>
          </li>
        ))}
        {running.map(({ id, title, created_at }) => (
          <li key={id}>
            <Link to={projectPath(projectId, 'runs', id)} className={classes.step}>
              <Play size={16} aria-hidden />
              <span>
                <span className={classes.label}>{title}</span>
                <Text span className={classes.why}>
                  <Trans>
                    Running, started <RelativeTime value={created_at} />
                  </Trans>
                </Text>
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </Section>
  );
}
