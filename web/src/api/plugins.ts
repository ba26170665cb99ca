/** Plug-ins of the installation: what a wheel declares, which are installed, and what changes them. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf } from './client';
import { projectKey } from './keys';
import { listQuery } from './lists';
import type { components } from './schema';
import type { Answer } from './types';

type Schemas = components['schemas'];

export type Plugin = Answer<Schemas['PluginOut']>;
export type PluginDeclaration = Answer<Schemas['PluginDeclarationOut']>;
export type PluginPart = Answer<Schemas['PluginPartOut']>;

const key = (projectId: string) => projectKey(projectId, 'plugin');
const wheel = (file: File) => ({
  headers: { 'Content-Type': 'application/zip' },
  // The schema calls bytes a string; they are sent as they are.
  body: file as unknown as string,
  bodySerializer: (bytes: unknown) => bytes as BodyInit,
});

export function pluginsQuery(projectId: string, removed = false) {
  return listQuery(projectKey(projectId, 'plugin', 'list', removed), (_page, signal) =>
    bodyOf(
      api.GET('/api/v1/projects/{project_id}/plugins', {
        params: { path: { project_id: projectId }, query: { removed } },
        signal,
      }),
    ),
  );
}

/** Reads a wheel's declaration on the server; nothing of it is kept or run. */
export function useInspectPlugin(projectId: string) {
  return useMutation({
    mutationFn: (file: File) =>
      bodyOf(
        api.POST('/api/v1/projects/{project_id}/plugins/inspect', {
          params: { path: { project_id: projectId } },
          ...wheel(file),
        }),
      ),
  });
}

function usePluginChange<Variables, Result>(
  projectId: string,
  mutationFn: (variables: Variables) => Promise<Result>,
) {
  const client = useQueryClient();
  return useMutation({
    mutationFn,
    onSettled: () => client.invalidateQueries({ queryKey: key(projectId) }),
  });
}

export function useInstallPlugin(projectId: string) {
  return usePluginChange(
    projectId,
    ({ file, sha256, rights }: { file: File; sha256: string; rights: boolean }) =>
      bodyOf(
        api.POST('/api/v1/projects/{project_id}/plugins', {
          params: { path: { project_id: projectId }, query: { sha256, rights } },
          ...wheel(file),
        }),
      ),
  );
}

export function useSwitchPlugin(projectId: string) {
  return usePluginChange(projectId, ({ name, enabled }: { name: string; enabled: boolean }) => {
    const params = { path: { project_id: projectId, name } };
    return bodyOf(
      enabled
        ? api.POST('/api/v1/projects/{project_id}/plugins/{name}/enable', { params })
        : api.POST('/api/v1/projects/{project_id}/plugins/{name}/disable', { params }),
    );
  });
}

export function useRemovePlugin(projectId: string) {
  return usePluginChange(projectId, (name: string) =>
    api.DELETE('/api/v1/projects/{project_id}/plugins/{name}', {
      params: { path: { project_id: projectId, name } },
    }),
  );
}
