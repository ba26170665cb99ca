/** Rows of a version by number, fetched in blocks as they come into view. */
import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import type { RowFilter, RowPage } from '@/api/data-types';
import { fetchRows } from '@/api/datasets';
import { BLOCK_ROWS } from './grid-window';

export interface RowSource {
  projectId: string;
  dataset: string;
  version: string;
  sort: string[];
  filters: RowFilter[];
  /** The run that lets this person see encrypted values. */
  revealed?: string | undefined;
}

/** A version never changes, but a browser's memory has an end. */
const KEPT_FOR = 120_000;

function blockQuery(source: RowSource, block: number) {
  const { projectId, dataset, version, sort, filters, revealed } = source;
  return {
    queryKey: ['rows', projectId, dataset, version, sort, filters, revealed, block] as const,
    queryFn: ({ signal }: { signal: AbortSignal }) =>
      fetchRows(
        projectId,
        dataset,
        { version, offset: block * BLOCK_ROWS, limit: BLOCK_ROWS, sort, filters, revealed },
        signal,
      ),
    staleTime: Infinity,
    gcTime: KEPT_FOR,
  };
}

/** The first block, which also says how many rows there are. */
export function useFirstRows(source: RowSource) {
  return useQuery({ ...blockQuery(source, 0), placeholderData: keepPreviousData });
}

/** Rows of the blocks in view; undefined for those still on their way. */
export function useRows(source: RowSource, blocks: number[]) {
  const queries = useQueries({ queries: blocks.map((block) => blockQuery(source, block)) });
  const pages = new Map<number, RowPage | undefined>(
    blocks.map((block, index) => [block, queries[index]?.data]),
  );
  return {
    rowAt: (row: number): (string | null)[] | undefined =>
      pages.get(Math.floor(row / BLOCK_ROWS))?.rows[row % BLOCK_ROWS],
    error: queries.find(({ error }) => error !== null)?.error ?? null,
    retry: () => {
      queries.filter(({ isError }) => isError).forEach((query) => void query.refetch());
    },
  };
}
