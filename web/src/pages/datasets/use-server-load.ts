/** A table on its way from a database server: looked at, corrected, loaded. The address stays in this page. */
import { useRef, useState } from 'react';
import { ingestServer, inspectServer, type ServerPlace } from '@/api/servers';
import type { Inspection } from '@/api/uploads';
import { withSetting } from './corrections';
import type { LoadOptions } from './use-file-load';
import { useFollowedLoad } from './use-followed-load';

export function useServerLoad(projectId: string) {
  const following = useFollowedLoad(projectId);
  const [stage, setStage] = useState<'ready' | 'inspecting' | 'loading'>('ready');
  const [inspection, setInspection] = useState<Inspection | null>(null);
  const [options, setOptions] = useState<LoadOptions>({});
  const [error, setError] = useState<unknown>(null);
  // Kept outside of queries and mutations: their caches outlive the dialog.
  const place = useRef<ServerPlace | null>(null);

  const attempt = async (doing: typeof stage, work: (at: ServerPlace) => Promise<void>) => {
    if (place.current === null) return;
    setStage(doing);
    setError(null);
    following.follow(null);
    try {
      await work(place.current);
      if (doing === 'inspecting') setStage('ready');
    } catch (problem) {
      setError(problem);
      setStage('ready');
    }
  };
  const inspect = (wanted: LoadOptions) =>
    attempt('inspecting', async (at) => {
      setInspection(await inspectServer(projectId, at, wanted));
      setOptions(wanted);
    });

  return {
    stage: stage === 'loading' && following.isOver ? 'ready' : stage,
    inspection,
    options,
    work: following.work,
    result: following.result,
    error: error ?? following.error,
    connect: (to: ServerPlace) => {
      place.current = to;
      void inspect({});
    },
    /** Back to where the address is asked for. */
    disconnect: () => {
      place.current = null;
      following.follow(null);
      setInspection(null);
      setError(null);
    },
    choose: (table: string) => void inspect(withSetting({}, 'table', table)),
    correct: (wanted: LoadOptions) => void inspect(wanted),
    load: (dataset: string, further: LoadOptions = {}) =>
      void attempt('loading', async (at) => {
        // Without a name, the server would have to guess which of the tables was looked at.
        const wanted = { ...options, ...further, table: inspection?.table ?? null };
        following.follow(await ingestServer(projectId, at, dataset, wanted));
      }),
    cancel: following.cancel,
    /** Another table of the same server, after one has been loaded. */
    again: () => {
      following.follow(null);
      setStage('ready');
    },
  };
}

export type ServerLoad = ReturnType<typeof useServerLoad>;
