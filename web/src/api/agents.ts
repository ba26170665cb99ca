/** Agents of a project: list, one with its document, versions, figures, and what changes or tries them. */
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf } from './client';
import { projectKey } from './keys';
import type { components } from './schema';
import type { Answer } from './types';

type Schemas = components['schemas'];

export type AgentCard = Answer<Schemas['AgentCardOut']>;
export type AgentDetail = Answer<Schemas['AgentOut']>;
export type AgentVersion = Answer<Schemas['AgentVersionOut']>;
export type AgentFieldChange = Answer<Schemas['AgentFieldChange']>;
export type AgentParts = Answer<Schemas['AgentPartsOut']>;
export type AgentFigures = Answer<Schemas['AgentFiguresOut']>;
export type AgentProblem = Answer<Schemas['AgentProblem']>;
export type GuardrailUse = string | ({ use: string } & Record<string, unknown>);

/** An agent as people write it; what is left out has its default. */
export interface AgentDocument {
  name: string;
  title: string;
  description: string;
  instructions: string;
  tools?: string[];
  highest_risk?: string;
  role?: string;
  model?: string | null;
  skills?: string[];
  guardrails?: GuardrailUse[];
  handoffs?: { how: string; to: string[]; give?: string } | null;
  budget?: { calls?: number; tokens?: number | null; usd?: string | number | null } | null;
  memory?: { keep?: number | undefined; per?: 'project' | 'person' | undefined } | null;
  input?: unknown;
  output?: unknown;
}

const NOUN = 'agent';
const of = (projectId: string, name: string) => ({ project_id: projectId, name });
const match = (version: number) => ({ 'if-match': `"${version}"` });

export function agentsQuery(projectId: string, archived = false) {
  return queryOptions({
    queryKey: projectKey(projectId, NOUN, 'list', archived),
    queryFn: async ({ signal }): Promise<AgentCard[]> => {
      const { items } = await bodyOf(
        api.GET('/api/v1/projects/{project_id}/agents', {
          params: { path: { project_id: projectId }, query: { archived } },
          signal,
        }),
      );
      return items;
    },
  });
}

export function agentPartsQuery(projectId: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'models', 'agent-parts'),
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/agent-parts', {
          params: { path: { project_id: projectId } },
          signal,
        }),
      ),
  });
}

export function agentQuery(projectId: string, name: string) {
  return queryOptions({
    queryKey: projectKey(projectId, NOUN, 'one', name),
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/agents/{name}', {
          params: { path: of(projectId, name) },
          signal,
        }),
      ),
  });
}

export function agentVersionsQuery(projectId: string, name: string) {
  return queryOptions({
    queryKey: projectKey(projectId, NOUN, 'versions', name),
    queryFn: async ({ signal }): Promise<AgentVersion[]> => {
      const { items } = await bodyOf(
        api.GET('/api/v1/projects/{project_id}/agents/{name}/versions', {
          params: { path: of(projectId, name) },
          signal,
        }),
      );
      return items;
    },
  });
}

export function agentDiffQuery(projectId: string, name: string, left: number, right: number) {
  return queryOptions({
    queryKey: projectKey(projectId, NOUN, 'diff', name, left, right),
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/agents/{name}/diff', {
          params: { path: of(projectId, name), query: { left, right } },
          signal,
        }),
      ),
    // Versions never change.
    staleTime: Infinity,
  });
}

export function agentFiguresQuery(projectId: string, name: string, days: number) {
  return queryOptions({
    queryKey: projectKey(projectId, 'run', 'agent-figures', name, days),
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/agents/{name}/figures', {
          params: { path: of(projectId, name), query: { days } },
          signal,
        }),
      ),
  });
}

/** What is wrong with an agent, while it is being composed. */
export function agentCheckQuery(projectId: string, document: AgentDocument) {
  return queryOptions({
    queryKey: ['agent-check', projectId, document],
    queryFn: ({ signal }) =>
      bodyOf(
        api.POST('/api/v1/projects/{project_id}/agents/check', {
          params: { path: { project_id: projectId } },
          body: { document: { ...document } },
          signal,
        }),
      ),
    placeholderData: (previous) => previous,
    gcTime: 60_000,
  });
}

function useRefresh(projectId: string) {
  const client = useQueryClient();
  return async () => {
    await client.invalidateQueries({ queryKey: projectKey(projectId, NOUN) });
    // What flows can name is listed with their palette.
    await client.invalidateQueries({ queryKey: ['flow-palette', projectId] });
  };
}

interface Save {
  document: AgentDocument;
  message: string;
  /** The version it was made from; 0 for a new agent. */
  version: number;
}

export function useSaveAgent(projectId: string) {
  const refresh = useRefresh(projectId);
  return useMutation({
    mutationFn: ({ document, message, version }: Save) =>
      bodyOf(
        api.PUT('/api/v1/projects/{project_id}/agents/{name}', {
          params: { path: of(projectId, document.name), header: match(version) },
          body: { document: { ...document }, message },
        }),
      ),
    onSettled: refresh,
  });
}

interface Named {
  name: string;
  version: number;
}

export function useArchiveAgent(projectId: string) {
  const refresh = useRefresh(projectId);
  return useMutation({
    mutationFn: ({ name, version }: Named) =>
      bodyOf(
        api.DELETE('/api/v1/projects/{project_id}/agents/{name}', {
          params: { path: of(projectId, name), header: match(version) },
        }),
      ),
    onSettled: refresh,
  });
}

/** Makes an earlier version current again; `version` is the newest. */
export function useRestoreAgent(projectId: string) {
  const refresh = useRefresh(projectId);
  return useMutation({
    mutationFn: ({ name, version, wanted }: Named & { wanted: number }) =>
      bodyOf(
        api.POST('/api/v1/projects/{project_id}/agents/{name}/restore', {
          params: { path: of(projectId, name), header: match(version) },
          body: { version: wanted },
        }),
      ),
    onSettled: refresh,
  });
}

export function useTryAgent(projectId: string) {
  return useMutation({
    mutationFn: ({ name, task, context }: { name: string; task: string; context: unknown }) =>
      bodyOf(
        api.POST('/api/v1/projects/{project_id}/agents/{name}/try', {
          params: { path: of(projectId, name) },
          body: { task, context },
        }),
      ),
  });
}
