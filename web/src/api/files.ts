/** Original files of a project: list, download address, and what was made from them. */
import { api, bodyOf } from './client';
import type { Lineage } from './data-types';
import { projectKey } from './keys';
import { listQuery } from './lists';

/** Files come and go with commits, hence the noun. */
export function filesQuery(projectId: string) {
  return listQuery(projectKey(projectId, 'data', 'files'), (_page, signal) =>
    bodyOf(
      api.GET('/api/v1/projects/{project_id}/files', {
        params: { path: { project_id: projectId } },
        signal,
      }),
    ),
  );
}

export function downloadAddress(projectId: string, path: string): string {
  const query = new URLSearchParams({ path });
  return `/api/v1/projects/${encodeURIComponent(projectId)}/files/content?${query}`;
}

/** `originals/customers.csv` is shown as customers.csv. */
export function fileName(path: string): string {
  return path.split('/').at(-1) ?? path;
}

/** The datasets that were loaded from each file. */
export function datasetsByFile({ nodes, edges }: Lineage): Map<string, string[]> {
  const known = new Map(nodes.map((node) => [node.id, node]));
  const found = new Map<string, string[]>();
  for (const { from, to: step } of edges) {
    const file = known.get(from);
    if (file?.kind !== 'file') continue;
    const made = edges
      .filter((edge) => edge.from === step)
      .flatMap((edge) => known.get(edge.to)?.label ?? []);
    found.set(file.label, [...(found.get(file.label) ?? []), ...made]);
  }
  return found;
}
