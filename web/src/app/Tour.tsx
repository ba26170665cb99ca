/** A tour of five steps over the real pages; it can be left at any time. */
import { t } from '@lingui/core/macro';
import { ActionIcon, Button, Group, Text } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { X } from 'lucide-react';
import EmptyPicture, { type Picture } from '@/components/EmptyPicture';
import { useSearchParam } from '@/components/use-search-param';
import { projectPath, useCurrentProject } from './project';
import { pagesFor, registry } from './registry';
import classes from './Tour.module.css';

interface Stop {
  path: string;
  title: string;
  text: string;
  picture: Picture;
}

const STOPS: Stop[] = [
  {
    path: '',
    title: t`Ask a question`,
    text: t`Type what you want to know or do. Steward shows its plan and the rows behind each answer.`,
    picture: 'chart',
  },
  {
    path: 'datasets',
    title: t`Your data`,
    text: t`Load files or connect a database. Each dataset has its versions, a profile, charts and ways to clean it.`,
    picture: 'table',
  },
  {
    path: 'blueprints',
    title: t`Work that repeats`,
    text: t`Start with a blueprint and make it your own playbook. A playbook can run on a schedule.`,
    picture: 'cards',
  },
  {
    path: 'inbox',
    title: t`You decide`,
    text: t`Steward asks for approval before it sends or deletes anything. Requests wait in the inbox.`,
    picture: 'inbox',
  },
  {
    path: 'runs',
    title: t`See and undo`,
    text: t`Each run lists its steps, its cost and its files. You can take back what a run made.`,
    picture: 'list',
  },
];

export default function Tour() {
  const project = useCurrentProject();
  const navigate = useNavigate();
  const [wanted] = useSearchParam('step');
  const open = project ? pagesFor(registry.project, project.role).map(({ path }) => path) : [];
  const stops = STOPS.filter(({ path }) => open.includes(path));
  const index = Math.min(Math.max(Number(wanted ?? 1) - 1, 0), stops.length - 1);
  const go = (to: number) =>
    void navigate({
      to: projectPath(project?.id ?? '', stops[to]?.path ?? ''),
      search: { dialog: 'tour', step: to + 1 },
    });
  const leave = () =>
    void navigate({
      to: '.',
      search: (previous: Record<string, unknown>) => ({
        ...previous,
        dialog: undefined,
        step: undefined,
      }),
      replace: true,
    });
  useHotkeys([['Escape', leave]], []);
  const stop = stops[index];
  if (!stop) return null;
  return (
    <section aria-label={t`Tour`} className={classes.card}>
      <Group justify="space-between" wrap="nowrap">
        <Text size="xs" c="dimmed" className="tabular">
          {t`Step ${index + 1} of ${stops.length}`}
        </Text>
        <ActionIcon variant="subtle" color="gray" aria-label={t`Leave the tour`} onClick={leave}>
          <X size={16} aria-hidden />
        </ActionIcon>
      </Group>
      <EmptyPicture picture={stop.picture} />
      <div aria-live="polite">
        <Text fw={600}>{stop.title}</Text>
        <Text size="sm">{stop.text}</Text>
      </div>
      <Group justify="flex-end" gap="xs">
        {index > 0 && (
          <Button variant="default" size="xs" onClick={() => go(index - 1)}>
            {t`Back`}
          </Button>
        )}
        {index < stops.length - 1 ? (
          <Button size="xs" onClick={() => go(index + 1)}>
            {t`Next: ${stops[index + 1]?.title ?? ''}`}
          </Button>
        ) : (
          <Button size="xs" onClick={leave}>
            {t`Finish`}
          </Button>
        )}
      </Group>
    </section>
  );
}
