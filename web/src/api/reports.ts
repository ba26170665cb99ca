/** Reports about datasets: written by the server, kept among the project's files. */
import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf } from './client';
import { fileName } from './files';
import { projectKey } from './keys';
import type { ProjectFile } from './types';

const FOLDER = 'reports/';

export interface StoredReport {
  title: string;
  bytes: number;
  html: string | null;
  pdf: string | null;
}

export function writeReport(
  projectId: string,
  request: { title: string; datasets: string[]; locale: string },
) {
  return bodyOf(
    api.POST('/api/v1/projects/{project_id}/reports', {
      params: { path: { project_id: projectId } },
      body: { ...request, branch: 'main' },
    }),
  );
}

/** A report is stored once for the screen and once for paper. */
export function reportsAmong(files: ProjectFile[]): StoredReport[] {
  const found = new Map<string, StoredReport>();
  for (const { path, bytes } of files) {
    const ending = /\.(html|pdf)$/.exec(path)?.[1];
    if (!path.startsWith(FOLDER) || ending === undefined) continue;
    const title = fileName(path).slice(0, -ending.length - 1);
    const known = found.get(title) ?? { title, bytes: 0, html: null, pdf: null };
    found.set(title, { ...known, bytes: known.bytes + bytes, [ending]: path });
  }
  return [...found.values()];
}

export function isReport(path: string): boolean {
  return path.startsWith(FOLDER);
}

/** The text of a stored HTML report. */
export function reportTextQuery(projectId: string, path: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'data', 'report', path),
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/files/content', {
          params: { path: { project_id: projectId }, query: { path } },
          parseAs: 'text',
          signal,
        }),
      ),
  });
}
