/** Tables of database servers: looked at and loaded. Addresses go to the server and nowhere else. */
import { api, bodyOf } from './client';
import type { IngestOptions } from './data-types';
import { type LongWork, workOf } from './long-work';
import type { Inspection } from './uploads';

/** Where the data is: an address with everything in it, or the secret that holds one. */
export type ServerPlace = { url: string } | { secret: string };

export async function inspectServer(
  projectId: string,
  place: ServerPlace,
  options: Partial<IngestOptions>,
) {
  const { inspection } = await bodyOf(
    api.POST('/api/v1/projects/{project_id}/servers/inspect', {
      params: { path: { project_id: projectId } },
      body: { ...place, options: options },
    }),
  );
  return inspection as unknown as Inspection;
}

export async function ingestServer(
  projectId: string,
  place: ServerPlace,
  dataset: string,
  options: Partial<IngestOptions>,
): Promise<LongWork> {
  const run = await bodyOf(
    api.POST('/api/v1/projects/{project_id}/servers/ingest', {
      params: { path: { project_id: projectId } },
      body: { ...place, dataset, options: options, branch: 'main' },
    }),
  );
  return workOf(run);
}
