/** One file on its way to a dataset: sent, looked at, corrected, loaded. A failure loses nothing of it. */
import { useCallback, useEffect, useRef, useState } from 'react';
import type { IngestOptions } from '@/api/data-types';
import type { LongWork } from '@/api/long-work';
import {
  abandonUpload,
  ingestUpload,
  type Inspection,
  inspectUpload,
  type LoadResult,
  sendFile,
  transportOf,
} from '@/api/uploads';
import { useFollowedLoad } from './use-followed-load';

export type LoadOptions = Partial<IngestOptions>;
export type Stage = 'sending' | 'inspecting' | 'ready' | 'loading' | 'done';

export interface FileLoad {
  stage: Stage;
  /** Bytes that have arrived. */
  sent: number;
  inspection: Inspection | null;
  options: LoadOptions;
  work: LongWork | null;
  result: LoadResult | null;
  error: unknown;
  /** Sends on, or looks again, after a failure. */
  retry: () => void;
  correct: (options: LoadOptions) => void;
  /** Loads it, with further options that are no corrections. */
  load: (dataset: string, further?: LoadOptions) => void;
  /** Stops loading; the file stays, as it was looked at. */
  cancel: () => void;
  /** Gives the file up, here and on the server. */
  abandon: () => void;
}

export function useFileLoad(projectId: string, file: File): FileLoad {
  const following = useFollowedLoad(projectId);
  const [stage, setStage] = useState<Stage>('sending');
  const [sent, setSent] = useState(0);
  const [inspection, setInspection] = useState<Inspection | null>(null);
  const [options, setOptions] = useState<LoadOptions>({});
  const [error, setError] = useState<unknown>(null);
  const uploadId = useRef<string | undefined>(undefined);
  const stop = useRef(new AbortController());

  const inspect = useCallback(
    async (wanted: LoadOptions) => {
      setStage('inspecting');
      setError(null);
      try {
        setInspection(await inspectUpload(projectId, uploadId.current ?? '', wanted));
        setOptions(wanted);
        setStage('ready');
      } catch (problem) {
        setError(problem);
        setStage('ready');
      }
    },
    [projectId],
  );

  const send = useCallback(async () => {
    stop.current = new AbortController();
    const { signal } = stop.current;
    try {
      await sendFile(file, {
        transport: transportOf(projectId),
        signal,
        uploadId: uploadId.current,
        onStarted: (id) => {
          uploadId.current = id;
        },
        onProgress: setSent,
      });
      await inspect({});
    } catch (problem) {
      if (!signal.aborted) setError(problem);
    }
  }, [file, inspect, projectId]);

  useEffect(() => {
    // eslint-disable-next-line react-hooks/set-state-in-effect -- set when the server has answered
    void send();
    return () => stop.current.abort();
  }, [send]);

  const load = async (dataset: string, further: LoadOptions = {}) => {
    setStage('loading');
    setError(null);
    following.follow(null);
    try {
      // Of several tables, the one that is shown.
      const shown = (inspection?.tables.length ?? 0) > 1 ? { table: inspection?.table } : {};
      const wanted = { ...shown, ...options, ...further };
      following.follow(await ingestUpload(projectId, uploadId.current ?? '', dataset, wanted));
    } catch (problem) {
      setError(problem);
      setStage('ready');
    }
  };

  return {
    stage: following.result ? 'done' : stage === 'loading' && following.isOver ? 'ready' : stage,
    sent,
    inspection,
    options,
    work: following.work,
    result: following.result,
    error: error ?? following.error,
    retry: () => {
      setError(null);
      void (stage === 'sending' ? send() : inspect(options));
    },
    correct: (wanted) => void inspect(wanted),
    load: (dataset, further) => void load(dataset, further),
    cancel: following.cancel,
    abandon: () => {
      stop.current.abort();
      // One that is gone already needs no giving up; others expire by themselves.
      if (uploadId.current !== undefined) {
        abandonUpload(projectId, uploadId.current).catch(() => undefined);
      }
    },
  };
}
