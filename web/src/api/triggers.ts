/** Triggers of deployed playbooks, with the events that came to each. */
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf } from './client';
import { projectKey } from './keys';
import { listQuery } from './lists';
import type { components } from './schema';
import type { Answer } from './types';

type Schemas = components['schemas'];
export type WatchedTrigger = Answer<Schemas['WatchedTriggerOut']>;
export type TriggerEvent = Answer<Schemas['TriggerEventOut']>;
export type EventState = TriggerEvent['state'];
export type Decision = Schemas['EventDecisionIn'];

const LIST = '/api/v1/projects/{project_id}/triggers';
const ONE = '/api/v1/projects/{project_id}/triggers/{trigger_id}';
/** Events come without news of their own, so an open list looks again by itself. */
const LOOK_AGAIN = 4_000;

const place = (projectId: string, triggerId: string) => ({
  path: { project_id: projectId, trigger_id: triggerId },
});

export function watchedTriggersQuery(projectId: string) {
  return {
    ...listQuery<WatchedTrigger>(projectKey(projectId, 'trigger', 'list'), (_paging, signal) =>
      bodyOf(api.GET(LIST, { params: { path: { project_id: projectId } }, signal })),
    ),
    refetchInterval: LOOK_AGAIN,
  };
}

export function watchedTriggerQuery(projectId: string, triggerId: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'trigger', 'one', triggerId),
    queryFn: ({ signal }) => bodyOf(api.GET(ONE, { params: place(projectId, triggerId), signal })),
    refetchInterval: LOOK_AGAIN,
  });
}

export function triggerEventsQuery(projectId: string, triggerId: string, state: EventState | null) {
  return {
    ...listQuery<TriggerEvent>(
      projectKey(projectId, 'trigger', 'events', triggerId, state),
      (paging, signal) =>
        bodyOf(
          api.GET(`${ONE}/events`, {
            params: {
              ...place(projectId, triggerId),
              query: { ...paging, ...(state === null ? {} : { state: [state] }) },
            },
            signal,
          }),
        ),
    ),
    refetchInterval: LOOK_AGAIN,
  };
}

function useTriggerChange<Given>(projectId: string, change: (given: Given) => Promise<unknown>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSettled: () => client.invalidateQueries({ queryKey: projectKey(projectId, 'trigger') }),
  });
}

export function useDecideAboutEvents(projectId: string, triggerId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: Decision) =>
      bodyOf(api.POST(`${ONE}/decisions`, { params: place(projectId, triggerId), body })),
    onSettled: () => client.invalidateQueries({ queryKey: projectKey(projectId, 'trigger') }),
  });
}

export function useSwitchWatchedTrigger(projectId: string) {
  return useTriggerChange(projectId, ({ id, enabled }: { id: string; enabled: boolean }) =>
    bodyOf(api.POST(`${ONE}/switch`, { params: place(projectId, id), body: { enabled } })),
  );
}

export function useRenewAddress(projectId: string) {
  return useTriggerChange(projectId, (id: string) =>
    bodyOf(api.POST(`${ONE}/address`, { params: place(projectId, id) })),
  );
}

export type OpenForm = Answer<Schemas['FormOut']>;

/** The form behind a link; the token travels in the body, so that no log keeps it. */
export function openFormQuery(token: string) {
  return queryOptions({
    queryKey: ['form', token],
    queryFn: ({ signal }) => bodyOf(api.POST('/api/v1/forms/lookup', { body: { token }, signal })),
    retry: false,
    staleTime: Infinity,
  });
}

export function useAnswerForm() {
  return useMutation({
    mutationFn: (body: Schemas['FormAnswer']) =>
      bodyOf(api.POST('/api/v1/forms/answers', { body })),
  });
}
