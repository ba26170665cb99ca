/** Alerts of a project, and the rules that raise them. */
import {
  keepPreviousData,
  queryOptions,
  skipToken,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query';
import { api, bodyOf } from './client';
import { projectKey } from './keys';
import { listQuery } from './lists';
import type { components } from './schema';
import type { Answer } from './types';

type Schemas = components['schemas'];
export type AlertItem = Answer<Schemas['AlertOut']>;
export type AlertRules = Answer<Schemas['AlertRulesOut']>;
export type KeptRule = AlertRules['items'][number];
export type AlertRule = Schemas['AlertRule'];
export type Channel = NonNullable<AlertRule['channels']>[number];
export type Figure = AlertRule['figure'];
export type Past = Answer<Schemas['PastOut']>;

const ALERTS = '/api/v1/projects/{project_id}/alerts';
const ONE = '/api/v1/projects/{project_id}/alerts/{alert_id}';
const RULES = '/api/v1/projects/{project_id}/alert-rules';
const PREVIEW = '/api/v1/projects/{project_id}/alert-rule-preview';

export function alertsQuery(projectId: string, state: 'open' | 'resolved') {
  return listQuery<AlertItem>(projectKey(projectId, 'alert', state), (paging, signal) =>
    bodyOf(
      api.GET(ALERTS, {
        params: { path: { project_id: projectId }, query: { ...paging, state } },
        signal,
      }),
    ),
  );
}

export function alertRulesQuery(projectId: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'alert', 'rules'),
    queryFn: ({ signal }) =>
      bodyOf(api.GET(RULES, { params: { path: { project_id: projectId } }, signal })),
  });
}

/** What a rule would have done; null while it cannot be checked. */
export function alertPreviewQuery(projectId: string, rule: AlertRule | null) {
  return queryOptions({
    queryKey: projectKey(projectId, 'alert', 'preview', rule),
    queryFn:
      rule === null
        ? skipToken
        : ({ signal }) =>
            bodyOf(
              api.POST(PREVIEW, {
                params: { path: { project_id: projectId } },
                body: rule,
                signal,
              }),
            ),
    placeholderData: keepPreviousData,
    retry: false,
  });
}

function useAlertChange<Given, Told>(projectId: string, change: (given: Given) => Promise<Told>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSettled: () => client.invalidateQueries({ queryKey: projectKey(projectId, 'alert') }),
  });
}

const place = (projectId: string, alertId: string) => ({
  path: { project_id: projectId, alert_id: alertId },
});

export function useAcknowledgeAlert(projectId: string) {
  return useAlertChange(projectId, (id: string) =>
    bodyOf(api.POST(`${ONE}/acknowledge`, { params: place(projectId, id) })),
  );
}

export function useMuteAlert(projectId: string) {
  return useAlertChange(projectId, ({ id, until }: { id: string; until: string | null }) =>
    bodyOf(api.POST(`${ONE}/mute`, { params: place(projectId, id), body: { until } })),
  );
}

export function useAcceptAsNormal(projectId: string) {
  return useAlertChange(projectId, (id: string) =>
    bodyOf(api.POST(`${ONE}/normal`, { params: place(projectId, id) })),
  );
}

export interface Saved {
  id: string;
  revision: number;
}

const named = (projectId: string, { id, revision }: Saved) => ({
  path: { project_id: projectId, rule_id: id },
  header: { 'if-match': `"${revision}"` },
});

/** Without `saved` a new one. */
export function useSaveAlertRule(projectId: string) {
  return useAlertChange(projectId, ({ saved, rule }: { saved?: Saved; rule: AlertRule }) =>
    saved === undefined
      ? bodyOf(api.POST(RULES, { params: { path: { project_id: projectId } }, body: rule }))
      : bodyOf(api.PUT(`${RULES}/{rule_id}`, { params: named(projectId, saved), body: rule })),
  );
}

export function useDeleteAlertRule(projectId: string) {
  return useAlertChange(projectId, (saved: Saved) =>
    bodyOf(api.DELETE(`${RULES}/{rule_id}`, { params: named(projectId, saved) })),
  );
}
