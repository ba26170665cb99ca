/** Follows one run: its entries as they are written, and its state into the queries. */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { projectKey } from '@/api/keys';
import type { JournalEntry, Run, RunDetail } from '@/api/run-types';
import { runQuery, runStreamAddress } from '@/api/runs';
import { EventStream, type StreamState } from '@/api/stream';

/** Entries come in bursts; the calls are asked for once after each. */
const PAUSE = 200;
const MOST_KEPT = 5_000;

export interface RunLog {
  entries: JournalEntry[];
  state: StreamState | 'ended';
}

/** Entries that arrive again after a reconnect are left out. */
export function withEntry(entries: JournalEntry[], entry: JournalEntry): JournalEntry[] {
  const last = entries.at(-1);
  if (last && entry.seq <= last.seq) return entries;
  return [...entries, entry].slice(-MOST_KEPT);
}

export function useRunStream(projectId: string, runId: string, enabled: boolean): RunLog {
  const client = useQueryClient();
  const [log, setLog] = useState<RunLog>({ entries: [], state: 'connecting' });
  useEffect(() => {
    if (!enabled) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const refreshNow = () => {
      clearTimeout(timer);
      for (const part of ['one', 'calls', 'actions', 'journal', 'trace']) {
        void client.invalidateQueries({ queryKey: projectKey(projectId, 'run', part, runId) });
      }
    };
    const refresh = () => {
      clearTimeout(timer);
      timer = setTimeout(refreshNow, PAUSE);
    };
    const stream = new EventStream({
      url: runStreamAddress(projectId, runId),
      onState: (state) =>
        setLog((before) => (before.state === 'ended' ? before : { ...before, state })),
      onEvent: ({ type, data }) => {
        if (type === 'entry') {
          const entry = JSON.parse(data) as JournalEntry;
          setLog((before) => ({ ...before, entries: withEntry(before.entries, entry) }));
          refresh();
        } else if (type === 'run') {
          const run = JSON.parse(data) as Run;
          client.setQueryData<RunDetail>(runQuery(projectId, runId).queryKey, (known) =>
            known ? { ...known, ...run } : known,
          );
          refresh();
        } else if (type === 'end') {
          setLog((before) => ({ ...before, state: 'ended' }));
          stream.close();
        }
      },
    });
    return () => {
      stream.close();
      // The run may have ended before its last entries came: what is shown of it is asked for once more.
      refreshNow();
    };
  }, [client, projectId, runId, enabled]);
  return log;
}
