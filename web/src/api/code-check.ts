/** What the server says of SQL or Python that somebody types: it looks at the text and runs nothing of it. */
import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf } from './client';
import type { components } from './schema';
import type { Answer } from './types';

export type CodeProblem = Answer<components['schemas']['CodeProblemOut']>;
export type CodeLanguage = components['schemas']['CodeIn']['language'];

export interface CodeText {
  language: CodeLanguage;
  code: string;
  parameters: Record<string, unknown>;
}

export function codeCheckQuery(projectId: string, { language, code, parameters }: CodeText) {
  return queryOptions({
    queryKey: ['code-check', projectId, language, code, parameters],
    queryFn: ({ signal }) =>
      bodyOf(
        api.POST('/api/v1/projects/{project_id}/code/check', {
          params: { path: { project_id: projectId } },
          body: { language, code, parameters, branch: 'main' },
          signal,
        }),
      ),
    retry: false,
  });
}
