/** Programs that a person lets act for them: what one asks for, saying yes, and disconnecting it again. */
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf } from './client';
import { projectKey } from './keys';
import { listQuery } from './lists';
import type { Role } from './types';

/** What a program wrote into the address of the page. */
export interface ProgramRequest {
  client_id: string;
  redirect_uri: string;
  response_type: string;
  code_challenge: string;
  code_challenge_method: string;
  resource?: string;
  scope?: string;
  state?: string;
}

const NEEDED = [
  'client_id',
  'redirect_uri',
  'response_type',
  'code_challenge',
  'code_challenge_method',
] as const;
const OPTIONAL = ['resource', 'scope', 'state'] as const;

/** Null where something is missing; each part is taken letter by letter, as the program wrote it. */
export function programRequest(search: string): ProgramRequest | null {
  const parts = new URLSearchParams(search);
  const found: Record<string, string> = {};
  for (const name of [...NEEDED, ...OPTIONAL]) {
    const value = parts.get(name);
    if (value !== null) found[name] = value;
  }
  return NEEDED.every((name) => found[name]) ? (found as unknown as ProgramRequest) : null;
}

export function askingQuery(request: ProgramRequest) {
  return queryOptions({
    queryKey: ['program-request', request],
    queryFn: ({ signal }) => bodyOf(api.POST('/api/v1/oauth/requests', { body: request, signal })),
    retry: false,
    staleTime: Infinity,
  });
}

export function useAllowProgram(request: ProgramRequest) {
  return useMutation({
    mutationFn: ({ projectId, role }: { projectId: string; role: Role }) =>
      bodyOf(
        api.POST('/api/v1/projects/{project_id}/programs', {
          params: { path: { project_id: projectId } },
          body: { ...request, role },
        }),
      ),
  });
}

export function programsQuery(projectId: string) {
  return listQuery(projectKey(projectId, 'program'), (query, signal) =>
    bodyOf(
      api.GET('/api/v1/projects/{project_id}/programs', {
        params: { path: { project_id: projectId }, query },
        signal,
      }),
    ),
  );
}

export function useDisconnectProgram(projectId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (grantId: string) =>
      api.DELETE('/api/v1/projects/{project_id}/programs/{grant_id}', {
        params: { path: { project_id: projectId, grant_id: grantId } },
      }),
    onSettled: () => client.invalidateQueries({ queryKey: projectKey(projectId, 'program') }),
  });
}
