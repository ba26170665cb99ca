/** What the server says of SQL or Python that somebody types: it looks at the text and runs nothing of it. */
import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf } from './client';
import type { components } from './schema';
import type { Answer } from './types';

export type CheckedCode = Answer<components['schemas']['CheckedCode']>;
export type CodeLanguage = components['schemas']['CodeIn']['language'];

export interface CodeText {
  language: CodeLanguage;
  code: string;
  parameters: Record<string, unknown>;
  /** The branch that the step names, if it names one. */
  branch: string | null;
  /** The branch of the run that is shown, or main. */
  runBranch: string;
}

export function codeCheckQuery(
  projectId: string,
  { language, code, parameters, branch, runBranch }: CodeText,
) {
  return queryOptions({
    queryKey: ['code-check', projectId, language, code, parameters, branch, runBranch],
    queryFn: ({ signal }) =>
      bodyOf(
        api.POST('/api/v1/projects/{project_id}/code/check', {
          params: { path: { project_id: projectId } },
          body: { language, code, parameters, branch, run_branch: runBranch },
          signal,
        }),
      ),
    retry: false,
  });
}
