/** The catalogue: services that can be installed, those that are, and their operations. */
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf } from './client';
import { projectKey } from './keys';
import type { components } from './schema';

type Schemas = components['schemas'];
export type CatalogueService = Schemas['CatalogueServiceOut'];
export type InstalledService = Schemas['InstalledServiceOut'];
export type ServiceDetail = Schemas['InstalledServiceDetail'];
export type ServiceOperation = Schemas['ServiceOperationOut'];
export type OperationDetail = Schemas['ServiceOperationDetail'];
export type Difference = Schemas['DifferenceOut'];
export type Installation = Schemas['InstallIn'];
export type Adapter = CatalogueService['adapter'];

const NOUN = 'service';
const ALL = '/api/v1/projects/{project_id}/catalogue/services';
const COUNTS = '/api/v1/projects/{project_id}/catalogue/counts';
const INSTALLED = '/api/v1/projects/{project_id}/catalogue/installed';
const ONE = '/api/v1/projects/{project_id}/catalogue/installed/{service}';
const OPERATIONS = '/api/v1/projects/{project_id}/catalogue/installed/{service}/operations';
const OPERATION =
  '/api/v1/projects/{project_id}/catalogue/installed/{service}/operations/{operation}';

export function countsQuery(projectId: string) {
  return queryOptions({
    queryKey: ['catalogue-counts', projectId],
    queryFn: ({ signal }) =>
      bodyOf(api.GET(COUNTS, { params: { path: { project_id: projectId } }, signal })),
    staleTime: Infinity,
  });
}

export function servicesQuery(projectId: string, q: string, adapter: Adapter | null) {
  return queryOptions({
    queryKey: [...projectKey(projectId, NOUN), 'search', q, adapter],
    queryFn: async ({ signal }): Promise<CatalogueService[]> => {
      const query = { q, limit: 40, ...(adapter === null ? {} : { adapter }) };
      const params = { path: { project_id: projectId }, query };
      return (await bodyOf(api.GET(ALL, { params, signal }))).items;
    },
    placeholderData: (previous) => previous,
  });
}

export function installedQuery(projectId: string) {
  return queryOptions({
    queryKey: [...projectKey(projectId, NOUN), 'installed'],
    queryFn: async ({ signal }): Promise<InstalledService[]> => {
      const params = { path: { project_id: projectId } };
      return (await bodyOf(api.GET(INSTALLED, { params, signal }))).items;
    },
  });
}

export function serviceQuery(projectId: string, service: string) {
  return queryOptions({
    queryKey: [...projectKey(projectId, NOUN), 'one', service],
    queryFn: ({ signal }) =>
      bodyOf(api.GET(ONE, { params: { path: { project_id: projectId, service } }, signal })),
  });
}

export function operationsQuery(projectId: string, service: string, q: string) {
  return queryOptions({
    queryKey: [...projectKey(projectId, NOUN), 'operations', service, q],
    queryFn: async ({ signal }): Promise<ServiceOperation[]> => {
      const params = { path: { project_id: projectId, service }, query: { q, limit: 50 } };
      return (await bodyOf(api.GET(OPERATIONS, { params, signal }))).items;
    },
    placeholderData: (previous) => previous,
  });
}

export function operationQuery(projectId: string, service: string, operation: string) {
  return queryOptions({
    queryKey: [...projectKey(projectId, NOUN), 'operation', service, operation],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET(OPERATION, {
          params: { path: { project_id: projectId, service, operation } },
          signal,
        }),
      ),
  });
}

/** A change after which everything about services, and the list of tools, is read again. */
function useChange<Input, Output>(projectId: string, change: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: projectKey(projectId, NOUN) }),
        client.invalidateQueries({ queryKey: ['tools', projectId] }),
      ]),
  });
}

export function useInstall(projectId: string) {
  return useChange(projectId, (body: Installation) =>
    bodyOf(api.POST(INSTALLED, { params: { path: { project_id: projectId } }, body })),
  );
}

export function useRemoveService(projectId: string) {
  return useChange(projectId, (service: string) =>
    api.DELETE(ONE, { params: { path: { project_id: projectId, service } } }),
  );
}

type Description = Schemas['DescriptionIn'];

export function useCompare(projectId: string, service: string) {
  return useMutation({
    mutationFn: (body: Description) =>
      bodyOf(
        api.POST(`${ONE}/changes`, {
          params: { path: { project_id: projectId, service } },
          body,
        }),
      ),
  });
}

export function useUpdateService(projectId: string, service: string) {
  return useChange(projectId, (body: Schemas['UpdateIn']) =>
    bodyOf(
      api.POST(`${ONE}/update`, { params: { path: { project_id: projectId, service } }, body }),
    ),
  );
}

const at = (project_id: string, service: string, operation: string) => ({
  path: { project_id, service, operation },
});

export function useOffer(projectId: string, service: string) {
  return useChange(projectId, ({ name, offered }: { name: string; offered: boolean }) =>
    bodyOf(
      api.PUT(`${OPERATION}/offered`, { params: at(projectId, service, name), body: { offered } }),
    ),
  );
}

export function useConfirmOperationRoles(projectId: string, service: string) {
  return useChange(projectId, ({ name, ...body }: { name: string } & Schemas['OperationRolesIn']) =>
    bodyOf(api.PUT(`${OPERATION}/roles`, { params: at(projectId, service, name), body })),
  );
}

export function useSetOperationRisk(projectId: string, service: string) {
  return useChange(projectId, ({ name, ...body }: { name: string } & Schemas['OperationRiskIn']) =>
    bodyOf(api.PUT(`${OPERATION}/risk`, { params: at(projectId, service, name), body })),
  );
}
