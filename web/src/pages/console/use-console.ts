/** One question at a time: asked, followed, given up. */
import { t } from '@lingui/core/macro';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { ask, type ChatAnswer, type Message, messagesQuery, type QueryType } from '@/api/chat';
import { runQuery } from '@/api/runs';
import { type Parameters, parametersOf } from './parameters';

export interface ConsoleState {
  isRunning: boolean;
  /** What happens just now, in words. */
  progress: string;
  answer: ChatAnswer | null;
  /** What the query of the answer was given. */
  parameters: Parameters;
  error: unknown;
}

const IDLE: ConsoleState = {
  isRunning: false,
  progress: '',
  answer: null,
  parameters: {},
  error: null,
};
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
  queued: t`Waiting for a worker`,
  running: t`Running`,
  waiting_for_approval: t`Waiting for approval`,
  blocked: t`Waiting for somebody`,
};

export function useConsole(projectId: string) {
  const client = useQueryClient();
  const [threadId, setThreadId] = useState(() => rememberedThread(projectId));
  const [state, setState] = useState(IDLE);
  const underway = useRef<AbortController | null>(null);
  // Leaving the page hangs up, and so ends the query.
  useEffect(() => () => underway.current?.abort(), []);

  const adopt = (thread: string) => {
    setThreadId(thread);
    rememberThread(projectId, thread);
  };
  const run = async (kind: QueryType, query: string, parameters: Parameters, limit: number) => {
    let thread = threadId;
    underway.current?.abort();
    const call = new AbortController();
    underway.current = call;
    setState({ ...IDLE, isRunning: true, progress: t`Sending` });
    const message = `${kind.toUpperCase()}:\n${query}`;
    const body = { message, thread_id: threadId, parameters, limit };
    try {
      const answer = await ask(projectId, body, call.signal, ({ kind: event, data }) => {
        if (event !== 'status') return;
        if (typeof data.thread_id === 'string') thread = data.thread_id;
        const progress = WORDS[String(data.status)] ?? String(data.status);
        setState((before) => ({ ...before, progress }));
      });
      thread = answer.thread_id;
      setState({ ...IDLE, answer, parameters });
    } catch (error) {
      if (underway.current !== call) return;
      setState({ ...IDLE, ...(call.signal.aborted ? { progress: t`Cancelled` } : { error }) });
    } finally {
      // What was given up is in the history too.
      if (thread !== null) {
        adopt(thread);
        void client.invalidateQueries({ queryKey: messagesQuery(projectId, thread).queryKey });
      }
    }
  };
  const cancel = () => underway.current?.abort();
  /** Brings a question back with its answer; gives what it was given, null where that is not known. */
  const show = async (found: Message): Promise<Parameters | null> => {
    const { thread_id: thread, run_id, status, summary } = found;
    const answer = found.error?.message ?? summary;
    setState({
      ...IDLE,
      answer: { thread_id: thread ?? '', run_id, status, answer, message: found },
    });
    const isShown = (state: ConsoleState) => state.answer?.run_id === run_id;
    try {
      const parameters = parametersOf(await client.query(runQuery(projectId, run_id)));
      setState((before) => (isShown(before) ? { ...before, parameters } : before));
      return parameters;
    } catch (error) {
      setState((before) => (isShown(before) ? { ...before, error } : before));
      return null;
    }
  };
  const startThread = () => {
    setThreadId(null);
    setState(IDLE);
  };
  return { state, threadId, run, cancel, show, startThread };
}
