import { act, fireEvent, screen, within } from '@testing-library/react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { CellTable } from '@/components/CellTable';
import { FormFooter } from '@/components/FormFooter';
import { SearchField } from '@/components/SearchField';
import { Unfolding } from '@/components/Unfolding';
import { DecisionButtons } from '@/components/waiting/DecisionButtons';
import { renderAlone } from '../harness';

afterEach(() => void vi.useRealTimers());

describe('a search field', () => {
  it('tells the words once the person pauses', async () => {
    vi.useFakeTimers();
    const onSearch = vi.fn();
    renderAlone(<SearchField label="Search" placeholder="Words" text="old" onSearch={onSearch} />);
    const field = screen.getByRole('textbox', { name: 'Search' });
    expect(field).toHaveValue('old');
    for (const value of ['b', 'bo', ' bonn ']) fireEvent.change(field, { target: { value } });
    await act(() => vi.advanceTimersByTimeAsync(249));
    expect(onSearch).not.toHaveBeenCalled();
    await act(() => vi.advanceTimersByTimeAsync(1));
    expect(onSearch).toHaveBeenCalledExactlyOnceWith('bonn');
  });
});

describe('the end of a form', () => {
  it('sends, or lets go, and cannot send what is not ready', () => {
    const onSubmit = vi.fn((event: { preventDefault: () => void }) => event.preventDefault());
    const onCancel = vi.fn();
    const drawn = (isDisabled: boolean) => (
      <form onSubmit={onSubmit}>
        <FormFooter submit="Create" isPending={false} isDisabled={isDisabled} onCancel={onCancel} />
      </form>
    );
    renderAlone(drawn(false));
    fireEvent.click(screen.getByRole('button', { name: 'Create' }));
    expect(onSubmit).toHaveBeenCalledOnce();
    fireEvent.click(screen.getByRole('button', { name: 'Cancel' }));
    expect(onCancel).toHaveBeenCalledOnce();
    expect(onSubmit).toHaveBeenCalledOnce();
    renderAlone(drawn(true));
    expect(screen.getAllByRole('button', { name: 'Create' }).at(-1)).toBeDisabled();
  });
});

describe('a table of cells', () => {
  it('tells no value from an empty text', () => {
    renderAlone(<CellTable label="First rows" columns={['city', 'note']} rows={[[null, '']]} />);
    const table = within(screen.getByRole('group', { name: 'First rows' }));
    expect(table.getAllByRole('columnheader').map((cell) => cell.textContent)).toEqual([
      'city',
      'note',
    ]);
    expect(table.getByTitle('no value')).toBeInTheDocument();
    expect(table.getByTitle('empty text')).toBeInTheDocument();
  });
});

describe('a line that unfolds', () => {
  it('shows its document when opened', () => {
    renderAlone(<Unfolding line="run.started" label="event" document={{ id: 7 }} />);
    const line = screen.getByRole('button', { name: 'run.started' });
    expect(line).toHaveAttribute('aria-expanded', 'false');
    expect(screen.queryByText(/"id": 7/)).not.toBeInTheDocument();
    fireEvent.click(line);
    expect(line).toHaveAttribute('aria-expanded', 'true');
    expect(screen.getByText(/"id": 7/)).toBeInTheDocument();
  });
});

describe('the buttons of a decision', () => {
  const decide = (change: { hasKeys?: boolean; isReady?: boolean; isPending?: boolean }) => {
    const onApprove = vi.fn();
    const onReject = vi.fn();
    renderAlone(
      <DecisionButtons hasKeys isPending={false} {...{ onApprove, onReject }} {...change} />,
    );
    fireEvent.keyDown(document.body, { key: 'a', code: 'KeyA' });
    fireEvent.keyDown(document.body, { key: 'r', code: 'KeyR' });
    return [onApprove.mock.calls.length, onReject.mock.calls.length];
  };
  it('listen to keys, where they are shown', () => {
    expect(decide({})).toEqual([1, 1]);
  });
  it.each([{ hasKeys: false }, { isReady: false }, { isPending: true }])(
    'do not at %o',
    (change) => {
      expect(decide(change)).toEqual([0, 0]);
    },
  );
});
