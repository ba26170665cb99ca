/** Earlier runs of a flow in a row, newest first: one is shown on the canvas, beside another one to compare it with. */
import { t } from '@lingui/core/macro';
import { Button, Select, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { itemsOf } from '@/api/lists';
import { type PlaybookRun, playbookRunsQuery } from '@/api/playbooks';
import { useProject } from '@/app/project';
import { durationText } from '@/components/duration';
import { useFormats } from '@/components/format';
import { RelativeTime } from '@/components/Moment';
import { statusLook } from '@/components/run-status';
import classes from './flows.module.css';

interface Props {
  playbookId: string;
  /** The run on the canvas. */
  shown: string | null;
  /** The run that it is compared with. */
  other: string | null;
  onShow: (run: string | null) => void;
  onCompare: (run: string | null) => void;
}

export function RunStrip({ playbookId, shown, other, onShow, onCompare }: Props) {
  const project = useProject();
  const formats = useFormats();
  const query = useInfiniteQuery(playbookRunsQuery(project.id, playbookId));
  const runs = itemsOf(query.data);
  if (runs.length === 0) return null;
  const others = runs.filter(({ id }) => id !== shown);
  return (
    <section className={classes.strip} aria-label={t`Runs of this flow`}>
      <Text span size="xs" c="dimmed">
        {t`Runs`}
      </Text>
      <ul className={classes.stripRuns}>
        {runs.map((run) => (
          <li key={run.id}>
            <RunMark
              run={run}
              isShown={run.id === shown}
              onClick={() => onShow(run.id === shown ? null : run.id)}
            />
          </li>
        ))}
        {query.hasNextPage && (
          <li>
            <Button
              size="compact-xs"
              variant="subtle"
              loading={query.isFetchingNextPage}
              onClick={() => void query.fetchNextPage()}
            >
              {t`Earlier`}
            </Button>
          </li>
        )}
      </ul>
      {shown !== null && others.length > 0 && (
        <Select
          size="xs"
          w="15rem"
          aria-label={t`Compare with`}
          placeholder={t`Compare with…`}
          clearable
          data={others.map((run) => ({
            value: run.id,
            label: `${formats.dateTime(run.created_at)} · ${statusLook(run.status).word}`,
          }))}
          value={other}
          onChange={onCompare}
        />
      )}
    </section>
  );
}

function RunMark(props: { run: PlaybookRun; isShown: boolean; onClick: () => void }) {
  const { run, isShown, onClick } = props;
  const { word, icon: Icon, tone } = statusLook(run.status);
  const took =
    run.started_at === null || run.ended_at === null
      ? ''
      : durationText(Date.parse(run.ended_at) - Date.parse(run.started_at));
  return (
    <button
      type="button"
      className={classes.stripRun}
      data-tone={tone}
      aria-pressed={isShown}
      title={run.reason ?? word}
      onClick={onClick}
    >
      <Icon size={13} role="img" aria-label={word} />
      <RelativeTime value={run.created_at} />
      {took !== '' && <span className={classes.stripTook}>{took}</span>}
    </button>
  );
}
