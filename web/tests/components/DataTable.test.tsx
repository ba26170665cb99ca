import { useInfiniteQuery } from '@tanstack/react-query';
import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, it, vi } from 'vitest';
import { ApiError } from '@/api/errors';
import { listQuery } from '@/api/lists';
import type { ListPage } from '@/api/types';
import { type Column, DataTable } from '@/components/DataTable';
import { renderAlone } from '../harness';

interface Fruit {
  name: string;
  ripe: boolean;
}

const columns: Column<Fruit>[] = [
  { id: 'name', header: 'Name', cell: ({ name }) => name },
  { id: 'eat', header: 'Eat', quietHeader: true, cell: ({ name }) => <button>Eat {name}</button> },
];
const fruit = (...names: string[]) => names.map((name) => ({ name, ripe: name !== 'Lime' }));

type Fetch = (query: { cursor?: string }) => Promise<ListPage<Fruit>>;

function Fruits({ fetch, ripeOnly = false }: { fetch: Fetch; ripeOnly?: boolean }) {
  const query = useInfiniteQuery(listQuery(['fruit'], fetch));
  return (
    <DataTable
      label="Fruits"
      columns={columns}
      query={query}
      rowKey={({ name }) => name}
      empty={<p>No fruit</p>}
      {...(ripeOnly ? { filter: ({ ripe }: Fruit) => ripe } : {})}
    />
  );
}

const show = (fetch: Fetch, ripeOnly = false) =>
  renderAlone(<Fruits fetch={fetch} ripeOnly={ripeOnly} />);
const names = () =>
  screen
    .getAllByRole('row')
    .slice(1)
    .map((row) => within(row).getAllByRole('cell')[0]?.textContent);

describe('a table', () => {
  it('is busy until the first page is there', async () => {
    let deliver: (page: ListPage<Fruit>) => void = () => undefined;
    show(() => new Promise((resolve) => (deliver = resolve)));
    expect(screen.getByRole('table')).toHaveAttribute('aria-busy', 'true');
    deliver({ items: fruit('Apple'), next_cursor: null });
    expect(await screen.findByText('Apple')).toBeInTheDocument();
    expect(screen.getByRole('table')).toHaveAttribute('aria-busy', 'false');
  });

  it('appends the next page when asked, with the cursor of the last', async () => {
    const fetch = vi.fn<Fetch>(({ cursor }) =>
      Promise.resolve(
        cursor === undefined
          ? { items: fruit('Apple', 'Banana'), next_cursor: 'after-banana' }
          : { items: fruit('Cherry'), next_cursor: null },
      ),
    );
    show(fetch);
    await userEvent.click(await screen.findByRole('button', { name: 'Show more' }));
    expect(await screen.findByText('Cherry')).toBeInTheDocument();
    expect(names()).toEqual(['Apple', 'Banana', 'Cherry']);
    expect(fetch.mock.lastCall?.[0]).toMatchObject({ cursor: 'after-banana', limit: 50 });
    expect(screen.queryByRole('button', { name: 'Show more' })).not.toBeInTheDocument();
  });

  it('says that it is empty, but not while more pages may hold something', async () => {
    show(() => Promise.resolve({ items: fruit('Lime'), next_cursor: 'more' }), true);
    expect(await screen.findByRole('button', { name: 'Show more' })).toBeInTheDocument();
    expect(screen.queryByText('No fruit')).not.toBeInTheDocument();
  });

  it('shows its empty state when the filter leaves nothing', async () => {
    show(() => Promise.resolve({ items: fruit('Lime'), next_cursor: null }), true);
    expect(await screen.findByText('No fruit')).toBeInTheDocument();
  });

  it('explains a failure and tries again', async () => {
    const fetch = vi
      .fn<Fetch>()
      .mockRejectedValueOnce(ApiError.unreachable())
      .mockResolvedValue({ items: fruit('Apple'), next_cursor: null });
    show(fetch);
    expect(await screen.findByRole('alert')).toHaveTextContent('cannot be reached');
    await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
    expect(await screen.findByText('Apple')).toBeInTheDocument();
  });

  it('names quiet columns for screen readers', async () => {
    show(() => Promise.resolve({ items: fruit('Apple'), next_cursor: null }));
    await screen.findByText('Apple');
    expect(screen.getByRole('columnheader', { name: 'Eat' })).toBeInTheDocument();
  });
});
