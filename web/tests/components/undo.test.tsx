import { act, fireEvent, screen } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ApiError } from '@/api/errors';
import { Toasts } from '@/components/Toasts';
import { clearToasts } from '@/components/toasts';
import { offerUndo, showFailure, undoLatest } from '@/components/undo';
import { renderAlone } from '../harness';

beforeEach(() => {
  vi.useFakeTimers();
  renderAlone(<Toasts />);
});

afterEach(() => {
  act(clearToasts);
  vi.useRealTimers();
});

const offer = (undo = vi.fn(() => Promise.resolve())) => {
  act(() => offerUndo({ message: 'Ada removed', undo, undone: 'Ada is back' }));
  return undo;
};
const pass = (milliseconds: number) => act(() => vi.advanceTimersByTimeAsync(milliseconds));
const toast = () => screen.queryByText('Ada removed');

describe('an offer to undo', () => {
  it('undoes once, says so and is gone', async () => {
    const undo = offer();
    const button = screen.getByRole('button', { name: 'Undo' });
    fireEvent.click(button);
    fireEvent.click(button);
    await pass(0);
    expect(undo).toHaveBeenCalledOnce();
    expect(screen.getByText('Ada is back')).toBeInTheDocument();
    expect(toast()).not.toBeInTheDocument();
  });

  it('can be taken with the keyboard, the latest first', async () => {
    const first = offer();
    const second = offer();
    act(() => void undoLatest());
    await pass(0);
    expect(second).toHaveBeenCalledOnce();
    expect(first).not.toHaveBeenCalled();
    act(() => void undoLatest());
    await pass(0);
    expect(first).toHaveBeenCalledOnce();
    expect(undoLatest()).toBe(false);
  });

  it('lapses after a while', async () => {
    const undo = offer();
    await pass(19_999);
    expect(toast()).toBeInTheDocument();
    await pass(1);
    expect(toast()).not.toBeInTheDocument();
    expect(undoLatest()).toBe(false);
    expect(undo).not.toHaveBeenCalled();
  });

  it('stays while it has the focus', async () => {
    offer();
    fireEvent.focus(screen.getByRole('button', { name: 'Undo' }));
    await pass(60_000);
    expect(toast()).toBeInTheDocument();
    fireEvent.blur(screen.getByRole('button', { name: 'Undo' }));
    await pass(20_000);
    expect(toast()).not.toBeInTheDocument();
  });

  it('tells when undoing failed', async () => {
    offer(vi.fn(() => Promise.reject(ApiError.unreachable())));
    fireEvent.click(screen.getByRole('button', { name: 'Undo' }));
    await pass(0);
    expect(screen.getByRole('alert')).toHaveTextContent('cannot be reached');
    expect(screen.queryByText('Ada is back')).not.toBeInTheDocument();
  });

  it('is gone when it was dismissed', () => {
    offer();
    fireEvent.click(screen.getByRole('button', { name: 'Dismiss' }));
    expect(toast()).not.toBeInTheDocument();
    expect(undoLatest()).toBe(false);
  });
});

describe('toasts', () => {
  it('make room for each other: no more than four, and an offer that left cannot be undone', async () => {
    const undo = offer();
    act(() => {
      for (let index = 0; index < 4; index += 1) showFailure(new Error(`failure ${index}`));
    });
    expect(screen.getAllByRole('alert')).toHaveLength(4);
    expect(toast()).not.toBeInTheDocument();
    expect(undoLatest()).toBe(false);
    await pass(0);
    expect(undo).not.toHaveBeenCalled();
  });
});
