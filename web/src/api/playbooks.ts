/** Playbooks: the library, their revisions and deployments, and blueprints to start from. */
import { t } from '@lingui/core/macro';
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf } from './client';
import { projectKey } from './keys';
import { listQuery } from './lists';
import type { Run } from './run-types';
import type { components } from './schema';
import type { Answer } from './types';

type Schemas = components['schemas'];
export type Playbook = Answer<Schemas['PlaybookOut']>;
export type PlaybookDetail = Answer<Schemas['PlaybookDetail']>;
export type PlaybookRevision = Answer<Schemas['RevisionOut']>;
export type PlaybookRun = Run & { revision: number | null };
export type PlaybookState = Playbook['state'];
export type Trigger = Answer<Schemas['TriggerOut']>;
export type Need = Answer<Schemas['NeedOut']>;
export type Blueprint = Answer<Schemas['BlueprintOut']>;
export type Sharing = Schemas['SharingIn'];

const LIST = '/api/v1/projects/{project_id}/playbooks';
const ONE = '/api/v1/projects/{project_id}/playbooks/{playbook_id}';

const place = (projectId: string, playbookId: string) => ({
  path: { project_id: projectId, playbook_id: playbookId },
});
const matching = (projectId: string, { id, version }: Pick<Playbook, 'id' | 'version'>) => ({
  ...place(projectId, id),
  header: { 'if-match': `"${version}"` },
});

export type ImportedFile = Schemas['ImportedFileOut'];

/** Those in use, those put away, and those deleted within the last thirty days. */
export type Shelf = 'used' | 'archived' | 'deleted';

export interface LibraryFilter {
  text: string;
  folder: string | null;
  shelf: Shelf;
}

export function playbooksQuery(projectId: string, filter: LibraryFilter) {
  return listQuery<Playbook>(projectKey(projectId, 'playbook', 'list', filter), (paging, signal) =>
    bodyOf(
      api.GET(LIST, {
        params: {
          path: { project_id: projectId },
          query: {
            ...paging,
            q: filter.text,
            ...(filter.folder === null ? {} : { folder: filter.folder }),
            state: filter.shelf === 'archived' ? ['archived'] : ['draft', 'active'],
            deleted: filter.shelf === 'deleted',
          },
        },
        signal,
      }),
    ),
  );
}

export function playbookQuery(projectId: string, playbookId: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'playbook', 'one', playbookId),
    queryFn: ({ signal }) => bodyOf(api.GET(ONE, { params: place(projectId, playbookId), signal })),
  });
}

export function playbookRunsQuery(projectId: string, playbookId: string) {
  return listQuery<PlaybookRun>(
    projectKey(projectId, 'run', 'playbook', playbookId),
    async (query, signal) => {
      const found = await bodyOf(
        api.GET(`${ONE}/runs`, { params: { ...place(projectId, playbookId), query }, signal }),
      );
      return found as unknown as { items: PlaybookRun[]; next_cursor: string | null };
    },
  );
}

/** Datasets and connections that a run would need. Data that changes makes it stale, and so does another version. */
export function needsQuery(projectId: string, { id, version }: Pick<Playbook, 'id' | 'version'>) {
  return queryOptions({
    queryKey: projectKey(projectId, 'data', 'needs', id, version),
    queryFn: async ({ signal }) => {
      const { items } = await bodyOf(
        api.GET(`${ONE}/needs`, { params: place(projectId, id), signal }),
      );
      return items;
    },
  });
}

export function revisionsQuery(projectId: string, playbookId: string) {
  return listQuery<PlaybookRevision>(
    projectKey(projectId, 'playbook', 'revisions', playbookId),
    (query, signal) =>
      bodyOf(
        api.GET(`${ONE}/revisions`, { params: { ...place(projectId, playbookId), query }, signal }),
      ),
  );
}

export function revisionDiffQuery(
  projectId: string,
  playbookId: string,
  left: number,
  right: number,
) {
  return queryOptions({
    queryKey: ['playbook-diff', projectId, playbookId, left, right],
    queryFn: async ({ signal }) => {
      const { lines } = await bodyOf(
        api.GET(`${ONE}/diff`, {
          params: { ...place(projectId, playbookId), query: { left, right } },
          signal,
        }),
      );
      return lines;
    },
    // Revisions never change.
    staleTime: Infinity,
  });
}

export function triggersQuery(projectId: string, playbookId: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'playbook', 'triggers', playbookId),
    queryFn: async ({ signal }) => {
      const { items } = await bodyOf(
        api.GET(`${ONE}/schedule`, { params: place(projectId, playbookId), signal }),
      );
      return items;
    },
  });
}

/** Everything wrong with a text, while it is being written. */
export function playbookCheckQuery(projectId: string, yaml: string) {
  return queryOptions({
    queryKey: ['playbook-check', projectId, yaml],
    queryFn: ({ signal }) =>
      bodyOf(
        api.POST(`${LIST}/check`, {
          params: { path: { project_id: projectId } },
          body: { yaml, message: '' },
          signal,
        }),
      ),
    enabled: yaml.trim() !== '',
    placeholderData: (previous) => previous,
    gcTime: 60_000,
  });
}

/** A change of playbooks; whatever comes of it, what is shown is read again. */
function usePlaybookChange<Given, Made>(
  projectId: string,
  change: (given: Given) => Promise<Made>,
) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSettled: () => client.invalidateQueries({ queryKey: projectKey(projectId, 'playbook') }),
  });
}

/** Where an editor draws the nodes; null: as before. */
export type KeptLayout = Record<string, unknown> | null;

export function createPlaybook(projectId: string, yaml: string, layout: KeptLayout) {
  return bodyOf(
    api.POST(LIST, {
      params: { path: { project_id: projectId } },
      body: { yaml, message: '', layout },
    }),
  );
}

export function useCreatePlaybook(projectId: string) {
  return usePlaybookChange(projectId, (yaml: string) => createPlaybook(projectId, yaml, null));
}

export interface GivenFile {
  name: string;
  yaml: string;
  /** Where an editor draws the nodes, from the file beside it. */
  layout?: Record<string, unknown> | null;
}

/** The playbooks of a zip, such as "Export all" makes. */
export async function unpackPlaybooks(projectId: string, zip: Blob): Promise<GivenFile[]> {
  const { files } = await bodyOf(
    api.POST(`${LIST}/import/unpack`, {
      params: { path: { project_id: projectId } },
      headers: { 'content-type': 'application/zip' },
      body: zip as unknown as string,
      bodySerializer: () => zip,
    }),
  );
  return files;
}

/** Takes in several files, all of them or none; a trial only tells what would become of each. */
export function useImportPlaybooks(projectId: string) {
  return usePlaybookChange(
    projectId,
    (body: { files: GivenFile[]; mine: boolean; trial: boolean }) =>
      bodyOf(
        api.POST(`${LIST}/import/files`, {
          params: { path: { project_id: projectId } },
          body: { ...body, message: '' },
        }),
      ),
  );
}

export function useSavePlaybook(projectId: string) {
  return usePlaybookChange(
    projectId,
    ({ playbook, yaml, message }: { playbook: Playbook; yaml: string; message: string }) =>
      bodyOf(api.PUT(ONE, { params: matching(projectId, playbook), body: { yaml, message } })),
  );
}

export interface Drawn {
  /** Null for a flow that was never saved. */
  playbook: Pick<Playbook, 'id' | 'version'> | null;
  yaml: string;
  layout: KeptLayout;
}

export function useSaveDrawing(projectId: string) {
  return usePlaybookChange(projectId, ({ playbook, yaml, layout }: Drawn) =>
    playbook === null
      ? createPlaybook(projectId, yaml, layout)
      : bodyOf(
          api.PUT(ONE, {
            params: matching(projectId, playbook),
            body: { yaml, message: '', layout },
          }),
        ),
  );
}

export interface OtherData {
  dataset: string;
  source: string;
  /** Names in that dataset by the names that the steps use. */
  renamed: Record<string, string>;
}

interface WrittenNeed {
  dataset: string;
  [field: string]: unknown;
}

/** Lets another dataset stand for one that the steps name, as a new revision. */
export function useOtherData(projectId: string) {
  return usePlaybookChange(
    projectId,
    ({ playbook, other }: { playbook: PlaybookDetail; other: OtherData }) => {
      const written = (playbook.document.data ?? []) as WrittenNeed[];
      const data = written.map((need) =>
        need.dataset === other.dataset ? { ...need, ...other } : need,
      );
      return bodyOf(
        api.PUT(ONE, {
          params: matching(projectId, playbook),
          body: {
            document: { ...playbook.document, data },
            message: t`Reads ${other.source} as ${other.dataset}`,
          },
        }),
      );
    },
  );
}

export function useDeployPlaybook(projectId: string) {
  return usePlaybookChange(projectId, ({ id, revision }: { id: string; revision: number | null }) =>
    bodyOf(api.POST(`${ONE}/deploy`, { params: place(projectId, id), body: { revision } })),
  );
}

export function useRollBackPlaybook(projectId: string) {
  return usePlaybookChange(projectId, (id: string) =>
    bodyOf(api.POST(`${ONE}/rollback`, { params: place(projectId, id) })),
  );
}

export function useArchivePlaybook(projectId: string) {
  return usePlaybookChange(projectId, ({ id, back }: { id: string; back: boolean }) =>
    bodyOf(
      api.POST(back ? `${ONE}/unarchive` : `${ONE}/archive`, { params: place(projectId, id) }),
    ),
  );
}

export function useDeletePlaybook(projectId: string) {
  return usePlaybookChange(projectId, (playbook: Playbook) =>
    api.DELETE(ONE, { params: matching(projectId, playbook) }),
  );
}

export function useRestorePlaybook(projectId: string) {
  return usePlaybookChange(projectId, (id: string) =>
    bodyOf(api.POST(`${ONE}/restore`, { params: place(projectId, id) })),
  );
}

export function useSharePlaybook(projectId: string) {
  return usePlaybookChange(projectId, ({ playbook, ...body }: Sharing & { playbook: Playbook }) =>
    bodyOf(api.PUT(`${ONE}/sharing`, { params: matching(projectId, playbook), body })),
  );
}

export interface NewTrigger {
  playbook: Playbook;
  name: string;
  settings: Record<string, unknown>;
}

const trigger = (projectId: string, playbook: Playbook, name: string) => {
  const { path, header } = matching(projectId, playbook);
  return { path: { ...path, trigger: name }, header };
};

export function useSetTrigger(projectId: string) {
  return usePlaybookChange(projectId, ({ playbook, name, settings }: NewTrigger) =>
    bodyOf(
      api.PUT(`${ONE}/schedule/{trigger}`, {
        params: trigger(projectId, playbook, name),
        body: { type: 'cron', settings },
      }),
    ),
  );
}

export function useRemoveTrigger(projectId: string) {
  return usePlaybookChange(projectId, ({ playbook, name }: { playbook: Playbook; name: string }) =>
    bodyOf(api.DELETE(`${ONE}/schedule/{trigger}`, { params: trigger(projectId, playbook, name) })),
  );
}

export function useSwitchTrigger(projectId: string) {
  return usePlaybookChange(
    projectId,
    ({ id, name, enabled }: { id: string; name: string; enabled: boolean }) =>
      bodyOf(
        api.POST(`${ONE}/schedule/{trigger}/switch`, {
          params: { path: { project_id: projectId, playbook_id: id, trigger: name } },
          body: { enabled },
        }),
      ),
  );
}

export async function runPlaybook(
  projectId: string,
  playbookId: string,
  inputs: Record<string, unknown>,
): Promise<Run> {
  const run = await bodyOf(
    api.POST(`${ONE}/runs`, {
      params: place(projectId, playbookId),
      body: { inputs, branch: 'main' },
    }),
  );
  return run as unknown as Run;
}

export function blueprintsQuery(projectId: string) {
  return queryOptions({
    queryKey: ['blueprints', projectId],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/blueprints', {
          params: { path: { project_id: projectId } },
          signal,
        }),
      ),
    staleTime: 60_000,
  });
}

/** What to enter when a blueprint is tried on its sample data. */
export function sampleInputsQuery(projectId: string, blueprint: string) {
  return queryOptions({
    queryKey: ['blueprints', projectId, blueprint],
    queryFn: async ({ signal }) => {
      const { sample_data } = await bodyOf(
        api.GET('/api/v1/projects/{project_id}/blueprints/{blueprint}', {
          params: { path: { project_id: projectId, blueprint } },
          signal,
        }),
      );
      return (sample_data.inputs ?? {}) as Record<string, unknown>;
    },
    staleTime: 60_000,
  });
}

/** Loads the datasets of the sample that are not there yet; answers with what became of each. */
export function loadSample(projectId: string, blueprint: string) {
  return bodyOf(
    api.POST('/api/v1/projects/{project_id}/blueprints/{blueprint}/sample', {
      params: { path: { project_id: projectId, blueprint } },
    }),
  );
}

export function useForkBlueprint(projectId: string) {
  return usePlaybookChange(projectId, (blueprint: string) =>
    bodyOf(
      api.POST('/api/v1/projects/{project_id}/blueprints/{blueprint}/fork', {
        params: { path: { project_id: projectId, blueprint } },
      }),
    ),
  );
}

export type Watcher = Answer<Schemas['WatcherOut']>;

const PRESENCE_PAUSE = 20_000;

/** Says that the reader has it open, again and again, and tells who else does. */
export function presenceQuery(projectId: string, playbookId: string, isEditing: boolean) {
  return queryOptions({
    // Not a part of what a change of playbooks makes stale.
    queryKey: ['presence', projectId, playbookId, isEditing],
    queryFn: async ({ signal }): Promise<Watcher[]> => {
      const { others } = await bodyOf(
        api.PUT(`${ONE}/presence`, {
          params: place(projectId, playbookId),
          body: { is_editing: isEditing },
          signal,
        }),
      );
      return others;
    },
    refetchInterval: PRESENCE_PAUSE,
    placeholderData: (previous) => previous,
    retry: false,
    gcTime: 0,
  });
}

export function endPresence(projectId: string, playbookId: string) {
  return api.DELETE(`${ONE}/presence`, { params: place(projectId, playbookId), keepalive: true });
}

export type Draft = Answer<Schemas['DraftOut']>;
export type DraftBody = Schemas['DraftIn'];

/** What the reader has changed and not saved. */
export async function readDraft(projectId: string, playbookId: string): Promise<Draft | null> {
  const { draft } = await bodyOf(api.GET(`${ONE}/draft`, { params: place(projectId, playbookId) }));
  return draft;
}

/** The same for the canvas, once: from then on the canvas knows better. */
export function draftQuery(projectId: string, playbookId: string) {
  return queryOptions({
    queryKey: ['draft', projectId, playbookId],
    queryFn: () => readDraft(projectId, playbookId),
    staleTime: Infinity,
    gcTime: 0,
  });
}

export async function keepDraft(projectId: string, playbookId: string, body: DraftBody) {
  const { version } = await bodyOf(
    api.PUT(`${ONE}/draft`, { params: place(projectId, playbookId), body }),
  );
  return version;
}

export async function discardDraft(projectId: string, playbookId: string, seen: number) {
  const { path } = place(projectId, playbookId);
  await api.DELETE(`${ONE}/draft`, { params: { path, query: { seen } } });
}

/** Who has changes that are not saved. */
export function draftsQuery(projectId: string, playbookId: string) {
  return queryOptions({
    queryKey: ['drafts', projectId, playbookId],
    queryFn: async ({ signal }) => {
      const { items } = await bodyOf(
        api.GET(`${ONE}/drafts`, { params: place(projectId, playbookId), signal }),
      );
      return items;
    },
  });
}
