/** Lists that the server pages by cursor, as TanStack queries. */
import {
  type InfiniteData,
  infiniteQueryOptions,
  type QueryClient,
  type QueryKey,
} from '@tanstack/react-query';
import type { ListPage } from './types';

const PAGE_SIZE = 50;

type FetchPage<Page> = (
  query: { cursor?: string; limit: number },
  signal: AbortSignal,
) => Promise<Page>;

export function listQuery<Item, Page extends ListPage<Item> = ListPage<Item>>(
  queryKey: QueryKey,
  fetchPage: FetchPage<Page>,
) {
  return infiniteQueryOptions({
    queryKey,
    queryFn: ({ pageParam, signal }) =>
      fetchPage({ limit: PAGE_SIZE, ...(pageParam === null ? {} : { cursor: pageParam }) }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
  });
}

/** All items fetched so far, in order. */
export function itemsOf<Item>(data: InfiniteData<ListPage<Item>> | undefined): Item[] {
  return data?.pages.flatMap((page) => page.items) ?? [];
}

/** Takes an item out of a fetched list at once, before the server has confirmed its removal. */
export function dropFromList<Item>(
  client: QueryClient,
  queryKey: QueryKey,
  isDropped: (item: Item) => boolean,
): void {
  client.setQueryData<InfiniteData<ListPage<Item>>>(queryKey, (data) => {
    if (!data) return data;
    const pages = data.pages.map((page) => ({
      ...page,
      items: page.items.filter((item) => !isDropped(item)),
    }));
    return { ...data, pages };
  });
}
