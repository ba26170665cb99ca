/** Skills of a project: list, one with its files, versions, and what changes them. */
import { t } from '@lingui/core/macro';
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf } from './client';
import { projectKey } from './keys';
import { listQuery } from './lists';
import type { components } from './schema';
import type { Answer } from './types';

type Schemas = components['schemas'];

export type SkillInfo = Answer<Schemas['SkillOut']>;
export type SkillDetail = Answer<Schemas['SkillDetail']>;
export type SkillVersion = Answer<Schemas['SkillVersionOut']>;
export type SkillFault = Answer<Schemas['SkillFaultOut']>;
export type SkillFileChange = Answer<Schemas['FileChangeOut']>;

export const SKILL_FILE = 'SKILL.md';

const of = (projectId: string, name: string) => ({ project_id: projectId, name });
const versioned = (version: number | null) => (version === null ? {} : { version });
const match = (revision: number) => ({ 'if-match': `"${revision}"` });

export function skillsQuery(projectId: string, deleted = false) {
  return listQuery(projectKey(projectId, 'skill', 'list', deleted), (_page, signal) =>
    bodyOf(
      api.GET('/api/v1/projects/{project_id}/skills', {
        params: { path: { project_id: projectId }, query: { deleted } },
        signal,
      }),
    ),
  );
}

export function skillQuery(projectId: string, name: string, version: number | null = null) {
  return queryOptions({
    queryKey: projectKey(projectId, 'skill', 'one', name, version),
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/skills/{name}', {
          params: { path: of(projectId, name), query: versioned(version) },
          signal,
        }),
      ),
  });
}

export function skillFileQuery(
  projectId: string,
  name: string,
  path: string,
  version: number | null = null,
) {
  return queryOptions({
    queryKey: projectKey(projectId, 'skill', 'file', name, version, path),
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/skills/{name}/file', {
          params: { path: of(projectId, name), query: { path, ...versioned(version) } },
          signal,
        }),
      ),
  });
}

export function skillVersionsQuery(projectId: string, name: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'skill', 'versions', name),
    queryFn: async ({ signal }) => {
      const { items } = await bodyOf(
        api.GET('/api/v1/projects/{project_id}/skills/{name}/versions', {
          params: { path: of(projectId, name) },
          signal,
        }),
      );
      return items;
    },
  });
}

export function skillDiffQuery(projectId: string, name: string, before: number, after: number) {
  return queryOptions({
    queryKey: projectKey(projectId, 'skill', 'diff', name, before, after),
    queryFn: async ({ signal }) => {
      const { items } = await bodyOf(
        api.GET('/api/v1/projects/{project_id}/skills/{name}/diff', {
          params: { path: of(projectId, name), query: { before, after } },
          signal,
        }),
      );
      return items;
    },
    // Versions never change.
    staleTime: Infinity,
  });
}

export interface SkillDraft {
  /** The skill that is changed; null for a new one. */
  name: string | null;
  skill_md: string;
  files: Record<string, string | null>;
}

/** What is wrong with a skill, while it is being written. */
export function skillCheckQuery(projectId: string, draft: SkillDraft) {
  return queryOptions({
    queryKey: ['skill-check', projectId, draft],
    queryFn: ({ signal }) =>
      bodyOf(
        api.POST('/api/v1/projects/{project_id}/skills/check', {
          params: { path: { project_id: projectId } },
          body: draft,
          signal,
        }),
      ),
    placeholderData: (previous) => previous,
    gcTime: 60_000,
  });
}

function useSkillChange<Variables, Result>(
  projectId: string,
  mutationFn: (variables: Variables) => Promise<Result>,
) {
  const client = useQueryClient();
  return useMutation({
    mutationFn,
    onSettled: () => client.invalidateQueries({ queryKey: projectKey(projectId, 'skill') }),
  });
}

export interface SkillSave {
  name: string;
  skill_md: string;
  files?: Record<string, string | null>;
  message: string;
  /** The revision that was read; null where there was none. */
  revision: number | null;
}

export function useSaveSkill(projectId: string) {
  return useSkillChange(projectId, ({ name, revision, files = {}, ...body }: SkillSave) =>
    bodyOf(
      api.PUT('/api/v1/projects/{project_id}/skills/{name}', {
        params: { path: of(projectId, name), header: revision === null ? {} : match(revision) },
        body: { ...body, files },
      }),
    ),
  );
}

export function useSwitchSkill(projectId: string) {
  return useSkillChange(projectId, ({ name, enabled }: { name: string; enabled: boolean }) =>
    bodyOf(
      api.PATCH('/api/v1/projects/{project_id}/skills/{name}', {
        params: { path: of(projectId, name) },
        body: { enabled },
      }),
    ),
  );
}

export function useDeleteSkill(projectId: string) {
  return useSkillChange(projectId, (name: string) =>
    api.DELETE('/api/v1/projects/{project_id}/skills/{name}', {
      params: { path: of(projectId, name) },
    }),
  );
}

export function useRestoreSkill(projectId: string) {
  return useSkillChange(projectId, (name: string) =>
    bodyOf(
      api.POST('/api/v1/projects/{project_id}/skills/{name}/restore', {
        params: { path: of(projectId, name) },
      }),
    ),
  );
}

export function useRestoreSkillVersion(projectId: string) {
  return useSkillChange(
    projectId,
    ({ name, version, revision }: { name: string; version: number; revision: number }) =>
      bodyOf(
        api.POST('/api/v1/projects/{project_id}/skills/{name}/versions/{version}/restore', {
          params: { path: { ...of(projectId, name), version }, header: match(revision) },
        }),
      ),
  );
}

export function useImportSkills(projectId: string) {
  return useSkillChange(projectId, ({ file, replace }: { file: File; replace: boolean }) =>
    bodyOf(
      api.POST('/api/v1/projects/{project_id}/skills/import', {
        params: {
          path: { project_id: projectId },
          query: { replace, message: t`Imported from ${file.name}`.slice(0, 400) },
        },
        headers: { 'Content-Type': 'application/zip' },
        // The schema calls bytes a string; they are sent as they are.
        body: file as unknown as string,
        bodySerializer: (bytes) => bytes,
      }),
    ),
  );
}

export function exportAddress(projectId: string, name: string): string {
  return `/api/v1/projects/${encodeURIComponent(projectId)}/skills/${encodeURIComponent(name)}/export`;
}
