/** One question at a time: asked, followed, given up. */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { ask, type ChatAnswer, messagesQuery, type QueryType } from '@/api/chat';

export interface ConsoleState {
  isRunning: boolean;
  /** What happens just now, in words. */
  progress: string;
  answer: ChatAnswer | null;
  error: unknown;
}

const IDLE: ConsoleState = { isRunning: false, progress: '', answer: null, error: null };
const keyOf = (projectId: string) => `steward.console.${projectId}`;

function rememberedThread(projectId: string): string | null {
  try {
    return localStorage.getItem(keyOf(projectId));
  } catch {
    return null;
  }
}

function rememberThread(projectId: string, threadId: string): void {
  try {
    localStorage.setItem(keyOf(projectId), threadId);
  } catch {
    // A browser without storage forgets the thread, nothing else.
  }
}

const WORDS: Record<string, string> = {
  queued: 'Waiting for a worker',
  running: 'Running',
  waiting_for_approval: 'Waiting for approval',
  blocked: 'Waiting for somebody',
};

export function useConsole(projectId: string) {
  const client = useQueryClient();
  const [threadId, setThreadId] = useState(() => rememberedThread(projectId));
  const [state, setState] = useState(IDLE);
  const underway = useRef<AbortController | null>(null);
  // Leaving the page hangs up, and so ends the query.
  useEffect(() => () => underway.current?.abort(), []);

  const run = async (kind: QueryType, query: string, limit: number) => {
    underway.current?.abort();
    const call = new AbortController();
    underway.current = call;
    setState({ ...IDLE, isRunning: true, progress: 'Sending' });
    const body = { message: `${kind.toUpperCase()}:\n${query}`, thread_id: threadId, limit };
    try {
      const answer = await ask(projectId, body, call.signal, ({ kind: event, data }) => {
        if (event !== 'status') return;
        const progress = WORDS[String(data.status)] ?? String(data.status);
        setState((before) => ({ ...before, progress }));
      });
      setThreadId(answer.thread_id);
      rememberThread(projectId, answer.thread_id);
      setState({ ...IDLE, answer });
    } catch (error) {
      if (underway.current !== call) return;
      setState({ ...IDLE, ...(call.signal.aborted ? { progress: 'Cancelled' } : { error }) });
    } finally {
      if (threadId !== null) {
        void client.invalidateQueries({ queryKey: messagesQuery(projectId, threadId).queryKey });
      }
    }
  };
  const cancel = () => underway.current?.abort();
  const show = (answer: ChatAnswer) => setState({ ...IDLE, answer });
  const startThread = () => {
    setThreadId(null);
    setState(IDLE);
  };
  return { state, threadId, run, cancel, show, startThread };
}
