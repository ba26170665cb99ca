/** One result of a conversation: a look at it, where it came from, and the way to download it. */
import { t } from '@lingui/core/macro';
import { Anchor, Button, Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import {
  ChartColumn,
  CornerDownRight,
  Download,
  FileText,
  type LucideIcon,
  Newspaper,
  Table2,
  Undo2,
} from 'lucide-react';
import { useState } from 'react';
import type { Exhibit, ExhibitKind } from '@/api/chat-types';
import { ApiError } from '@/api/errors';
import { artifactAddress } from '@/api/runs';
import { tableAddress } from '@/api/threads';
import { useProject } from '@/app/project';
import { Chip } from '@/components/Chip';
import { ErrorState } from '@/components/ErrorState';
import { useFormats } from '@/components/format';
import { RelativeTime } from '@/components/Moment';
import { tableOf } from '@/components/value-table';
import { ChartArtifact } from '@/pages/console/ChartArtifact';
import classes from './gallery.module.css';
import { RowsTable } from './RowsTable';

const ICONS: Record<ExhibitKind, LucideIcon> = {
  chart: ChartColumn,
  table: Table2,
  report: Newspaper,
  file: FileText,
};

interface Props {
  exhibit: Exhibit;
  threadId: string;
  onShow: () => void;
}

export function ExhibitCard({ exhibit, threadId, onShow }: Props) {
  const project = useProject();
  const formats = useFormats();
  const { kind, name, digest, run_id, rows_in_all, size, step_title, message } = exhibit;
  const Icon = ICONS[kind];
  const address =
    digest === null
      ? tableAddress(exhibit, project.id, threadId)
      : artifactAddress(project.id, run_id, digest);
  const about = [
    rows_in_all === null ? null : t`${formats.number(rows_in_all)} rows`,
    size === null ? null : formats.bytes(size),
  ];
  return (
    <article className={classes.card} aria-label={name}>
      <div className={classes.head}>
        <Icon size={16} aria-hidden />
        <span className={classes.name}>
          <Text span size="sm" fw={500}>
            {name}
          </Text>
          <Text span size="xs" c="dimmed">
            {about.filter(Boolean).join(' · ')}
            {about.some(Boolean) && ' · '}
            <RelativeTime value={exhibit.created_at} />
          </Text>
        </span>
        {exhibit.undone && <Chip word={t`Undone`} icon={Undo2} />}
      </div>
      <Preview exhibit={exhibit} address={address} />
      <div className={classes.foot}>
        <Button
          size="compact-xs"
          variant="subtle"
          className={classes.origin ?? ''}
          leftSection={<CornerDownRight size={13} aria-hidden />}
          title={message}
          aria-label={t`Show the step: ${step_title === '' ? message : step_title}`}
          onClick={onShow}
        >
          <span className={classes.message}>{step_title === '' ? message : step_title}</span>
        </Button>
        <Anchor
          href={address}
          download={digest === null ? true : name}
          size="xs"
          className={classes.download ?? ''}
          aria-label={digest === null ? t`Download CSV: ${name}` : t`Download: ${name}`}
        >
          <Download size={13} aria-hidden />
          {digest === null ? t`CSV` : t`Download`}
        </Anchor>
      </div>
    </article>
  );
}

const LONGEST_TEXT = 4_000;
const LARGEST_TEXT = 1_000_000;
const TEXTS = /^(text\/|application\/(json|xml|yaml))/;

function Preview({ exhibit, address }: { exhibit: Exhibit; address: string }) {
  const { kind, name, media_type: type, columns, rows, size } = exhibit;
  if (kind === 'table') {
    const table = tableOf({ columns, rows });
    return table && <RowsTable label={t`First rows: ${name}`} table={table} />;
  }
  if (type.includes('vegalite')) {
    return (
      <div className={classes.chart}>
        <ChartArtifact name={name} address={address} />
      </div>
    );
  }
  if (type.startsWith('image/')) {
    return <img className={classes.image} src={address} alt={name} loading="lazy" />;
  }
  if (!TEXTS.test(type) || (size ?? 0) > LARGEST_TEXT) return null;
  return <OnDemand name={name} type={type} address={address} />;
}

/** A text or a page, fetched when somebody wants to see it; a page is shut in, without scripts. */
function OnDemand({ name, type, address }: { name: string; type: string; address: string }) {
  const [isWanted, setWanted] = useState(false);
  const query = useQuery({
    queryKey: ['artifact-text', address],
    queryFn: async ({ signal }) => {
      const response = await fetch(address, { signal });
      if (!response.ok) throw await ApiError.fromResponse(response);
      return response.text();
    },
    enabled: isWanted,
    staleTime: Infinity,
  });
  return (
    <>
      <div>
        <Button
          size="compact-xs"
          variant="default"
          aria-expanded={isWanted}
          onClick={() => setWanted(!isWanted)}
        >
          {isWanted ? t`Hide the preview` : t`Preview`}
        </Button>
      </div>
      {isWanted && query.isPending && <Skeleton height={120} aria-busy />}
      {isWanted && query.isError && (
        <ErrorState error={query.error} retry={() => void query.refetch()} />
      )}
      {isWanted &&
        query.data !== undefined &&
        (type.startsWith('text/html') ? (
          <iframe className={classes.page} title={name} sandbox="" srcDoc={query.data} />
        ) : (
          // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
          <pre className={classes.text} tabIndex={0} aria-label={name}>
            {query.data.slice(0, LONGEST_TEXT)}
            {query.data.length > LONGEST_TEXT &&
              t`
… The first ${LONGEST_TEXT} of ${query.data.length} characters. Download the file to read all of it.`}
          </pre>
        ))}
    </>
  );
}
