/** Sending files in parts: what has arrived stays, and a broken connection goes on where it broke. */
import { api, bodyOf } from './client';
import type { IngestOptions, Upload } from './data-types';
import { ApiError } from './errors';
import { type LongWork, workOf } from './long-work';

const PART_BYTES = 4_000_000;
const ATTEMPTS = 6;
const FIRST_WAIT = 500;

export interface Transport {
  start: (name: string, size: number) => Promise<Upload>;
  /** How much has arrived. */
  read: (uploadId: string) => Promise<Upload>;
  append: (uploadId: string, offset: number, part: Blob, signal: AbortSignal) => Promise<Upload>;
}

interface Sending {
  transport: Transport;
  signal: AbortSignal;
  /** An upload that was begun before, to go on with. */
  uploadId?: string | undefined;
  onStarted?: (uploadId: string) => void;
  onProgress?: (sent: number) => void;
  wait?: (milliseconds: number) => Promise<void>;
  partBytes?: number;
}

const pause = (milliseconds: number) =>
  new Promise<void>((resolve) => {
    setTimeout(resolve, milliseconds);
  });

/** Sends a file to its end; after too many failures in a row it gives up, and can be called again. */
export async function sendFile(file: File, sending: Sending): Promise<string> {
  const { transport, signal, onStarted, onProgress } = sending;
  const { wait = pause, partBytes = PART_BYTES } = sending;
  const begun =
    sending.uploadId === undefined
      ? await transport.start(file.name, file.size)
      : await transport.read(sending.uploadId);
  onStarted?.(begun.id);
  let offset = begun.offset;
  let failures = 0;
  onProgress?.(offset);
  while (offset < file.size) {
    signal.throwIfAborted();
    try {
      const part = file.slice(offset, offset + partBytes);
      ({ offset } = await transport.append(begun.id, offset, part, signal));
      failures = 0;
    } catch (error) {
      failures += 1;
      if (!isPassing(error) || failures >= ATTEMPTS) throw error;
      await wait(FIRST_WAIT * 2 ** (failures - 1));
      signal.throwIfAborted();
      offset = await arrived(transport, begun.id, offset);
    }
    onProgress?.(offset);
  }
  return begun.id;
}

/** A refusal stays one, except that of a part which begins where the server is not. */
function isPassing(error: unknown): boolean {
  return error instanceof ApiError && (error.transient || error.code === 'upload-offset');
}

async function arrived(transport: Transport, uploadId: string, known: number): Promise<number> {
  try {
    return (await transport.read(uploadId)).offset;
  } catch (error) {
    if (isPassing(error)) return known;
    throw error;
  }
}

export function transportOf(projectId: string): Transport {
  const path = (uploadId: string) => ({ project_id: projectId, upload_id: uploadId });
  return {
    start: (name, size) =>
      bodyOf(
        api.POST('/api/v1/projects/{project_id}/uploads', {
          params: { path: { project_id: projectId } },
          body: { name, size },
        }),
      ),
    read: (uploadId) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/uploads/{upload_id}', {
          params: { path: path(uploadId) },
        }),
      ),
    append: (uploadId, offset, part, signal) =>
      bodyOf(
        api.PATCH('/api/v1/projects/{project_id}/uploads/{upload_id}', {
          params: { path: path(uploadId), header: { 'upload-offset': offset } },
          headers: { 'Content-Type': 'application/octet-stream' },
          // The schema calls bytes a string; they are sent as they are.
          body: part as unknown as string,
          bodySerializer: (bytes) => bytes,
          signal,
        }),
      ),
  };
}

export async function inspectUpload(
  projectId: string,
  uploadId: string,
  options: Partial<IngestOptions>,
) {
  const { inspection } = await bodyOf(
    api.POST('/api/v1/projects/{project_id}/uploads/{upload_id}/inspect', {
      params: { path: { project_id: projectId, upload_id: uploadId } },
      body: { options: options },
    }),
  );
  return inspection as unknown as Inspection;
}

export async function ingestUpload(
  projectId: string,
  uploadId: string,
  dataset: string,
  options: Partial<IngestOptions>,
): Promise<LongWork> {
  const run = await bodyOf(
    api.POST('/api/v1/projects/{project_id}/uploads/{upload_id}/ingest', {
      params: { path: { project_id: projectId, upload_id: uploadId } },
      body: { dataset, options: options, branch: 'main' },
    }),
  );
  return workOf(run);
}

export function abandonUpload(projectId: string, uploadId: string) {
  return api.DELETE('/api/v1/projects/{project_id}/uploads/{upload_id}', {
    params: { path: { project_id: projectId, upload_id: uploadId } },
  });
}

export interface ColumnFinding {
  name: string;
  type: string;
  reason: string;
  format: string | null;
  decimal_mark: string | null;
  thousands: string | null;
  declared: boolean;
  records: number;
  values: number;
  nulls: number;
  /** Values that do not fit the type; their records would be left out. */
  misfits: number;
  samples: { line: number | null; value: string; says: string }[];
}

/** Another way to read the file, and the corrections that choose it. */
export interface Alternative {
  says: string;
  why: string;
  options: Partial<IngestOptions>;
  column: string | null;
}

/** What a file seems to be, and why. */
export interface Inspection {
  name: string;
  format: string;
  columns: ColumnFinding[];
  tables: { name: string; rows: number | null; note: string | null }[];
  table: string | null;
  encoding: { name: string; reason: string } | null;
  dialect: { delimiter: string; reason: string } | null;
  header: { row: number | null; rows: number; reason: string } | null;
  rows: (string | null)[][];
  records_seen: number;
  complete: boolean;
  warnings: { message: string; column: string | null; line: number | null }[];
  alternatives: Alternative[];
  /** How many of the records looked at would be left out. */
  would_reject: number;
}

/** What loading a file came to. */
export interface LoadResult {
  dataset: string;
  commit: string;
  records: number;
  rows: number;
  rejected: number;
  rejects_dataset: string | null;
  warnings: { message: string; column: string | null; line: number | null }[];
}
