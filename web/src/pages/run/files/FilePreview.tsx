/** What is in a file, small: the top of a page, the drawing, the first rows or lines. */
import { t } from '@lingui/core/macro';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { ApiError } from '@/api/errors';
import type { Artifact } from '@/api/run-types';
import classes from '../run.module.css';
import { endingOf, kindOf, KINDS } from './kinds';
import { firstCells, firstParagraphs } from './office';
import { firstRows, separatorOf } from './separated';

const VegaChart = lazy(() => import('@/pages/dataset/charts/VegaChart'));
const nothing = () => undefined;

const ROWS = 6;
const COLUMNS = 5;
const LINES = 14;
/** As much of a text as its beginning needs. */
const BEGINNING = 20_000;
/** Larger files are not fetched for a small picture of them. */
const LARGEST: Record<string, number> = {
  page: 3_000_000,
  drawing: 1_000_000,
  chart: 1_000_000,
  xlsx: 5_000_000,
};

type Content =
  | { shows: 'page'; html: string }
  | { shows: 'chart'; spec: Record<string, unknown> }
  | { shows: 'cells'; rows: string[][] }
  | { shows: 'lines'; text: string }
  | { shows: 'nothing' };

interface Props {
  artifact: Artifact;
  address: string;
}

export default function FilePreview({ artifact, address }: Props) {
  const kind = kindOf(artifact);
  const { data } = useQuery({
    queryKey: ['artifact', 'preview', address],
    queryFn: ({ signal }) => read(artifact, address, signal),
    enabled: kind !== 'picture',
    // Its address is made of its content.
    staleTime: Infinity,
    retry: false,
  });
  if (kind === 'picture') return <img src={address} alt={artifact.name} loading="lazy" />;
  switch (data?.shows) {
    case 'page':
      return (
        <iframe
          className={classes.miniature}
          title={t`Beginning of ${artifact.name}`}
          sandbox=""
          srcDoc={data.html}
          tabIndex={-1}
        />
      );
    case 'chart':
      return (
        <div className={classes.drawing}>
          <Suspense>
            <VegaChart spec={data.spec} description={artifact.name} onDrawn={nothing} />
          </Suspense>
        </div>
      );
    case 'cells':
      return <Cells rows={data.rows} />;
    case 'lines':
      return <pre className={classes.beginning}>{data.text}</pre>;
    default: {
      const { icon: Icon } = KINDS[kind];
      return <Icon size={28} aria-hidden />;
    }
  }
}

function Cells({ rows }: { rows: string[][] }) {
  const [names = [], ...body] = rows;
  return (
    <table className={classes.firstRows}>
      <thead>
        <tr>
          {names.map((name, index) => (
            <th key={index} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {body.map((row, number) => (
          <tr key={number}>
            {row.map((cell, index) => (
              <td key={index}>{cell}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

async function read(artifact: Artifact, address: string, signal: AbortSignal): Promise<Content> {
  const kind = kindOf(artifact);
  const ending = endingOf(artifact.name);
  const isOffice = ending === 'xlsx' || ending === 'docx';
  const limit = LARGEST[isOffice ? 'xlsx' : kind];
  if (kind === 'other' || ending === 'pdf' || (limit !== undefined && artifact.size > limit)) {
    return { shows: 'nothing' };
  }
  const response = await fetch(address, { signal });
  if (!response.ok) throw await ApiError.fromResponse(response);
  if (ending === 'xlsx') {
    return { shows: 'cells', rows: await firstCells(await response.arrayBuffer(), ROWS, COLUMNS) };
  }
  if (ending === 'docx') {
    const paragraphs = await firstParagraphs(await response.arrayBuffer(), LINES);
    return { shows: 'lines', text: paragraphs.join('\n\n') };
  }
  if (kind === 'page' || kind === 'drawing') return { shows: 'page', html: await response.text() };
  if (kind === 'chart') {
    return { shows: 'chart', spec: (await response.json()) as Record<string, unknown> };
  }
  const text = await beginningOf(response);
  if (kind === 'table') {
    const separator = ending === 'tsv' ? '\t' : separatorOf(text);
    const rows = firstRows(text, separator, ROWS).map((row) => row.slice(0, COLUMNS));
    return { shows: 'cells', rows };
  }
  return { shows: 'lines', text: text.split('\n').slice(0, LINES).join('\n') };
}

/** The rest of a long file is not fetched. */
async function beginningOf(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return (await response.text()).slice(0, BEGINNING);
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += decoder.decode(value, { stream: true });
    if (text.length > BEGINNING) {
      await reader.cancel();
      return text.slice(0, BEGINNING);
    }
  }
}
