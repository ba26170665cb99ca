/** Connections of a project: documents, checks, proposals from this machine, tools of MCP servers. */
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf } from './client';
import { projectKey } from './keys';
import { listQuery } from './lists';
import type { components } from './schema';

type Schemas = components['schemas'];
export type Connection = Schemas['ConnectionOut'];
export type ConnectionKind = Schemas['ConnectorOut'];
export type NewConnection = Schemas['ConnectionIn'];
export type Proposal = Schemas['ProposalOut'];
export type ServerTool = Schemas['ServerToolOut'];
type AcceptedTools = Schemas['AcceptToolsIn'];

const NOUN = 'connection';
const ALL = '/api/v1/projects/{project_id}/connections';
const ONE = '/api/v1/projects/{project_id}/connections/{connection_id}';
const PROPOSALS = '/api/v1/projects/{project_id}/connection-proposals';

export function connectionsQuery(projectId: string) {
  return listQuery<Connection>(projectKey(projectId, NOUN), (query, signal) =>
    bodyOf(api.GET(ALL, { params: { path: { project_id: projectId }, query }, signal })),
  );
}

export function kindsQuery(projectId: string) {
  return queryOptions({
    queryKey: ['connection-kinds', projectId],
    queryFn: async ({ signal }): Promise<ConnectionKind[]> => {
      const path = '/api/v1/projects/{project_id}/connection-kinds';
      const params = { path: { project_id: projectId } };
      return (await bodyOf(api.GET(path, { params, signal }))).items;
    },
    staleTime: Infinity,
  });
}

/** What was found on the machine; refused to everybody but those who run the installation. */
export function proposalsQuery(projectId: string) {
  return queryOptions({
    queryKey: [...projectKey(projectId, NOUN), 'proposals'],
    queryFn: async ({ signal }): Promise<Proposal[]> => {
      const params = { path: { project_id: projectId } };
      return (await bodyOf(api.GET(PROPOSALS, { params, signal }))).items;
    },
    retry: false,
  });
}

export function serverToolsQuery(projectId: string, connectionId: string) {
  return queryOptions({
    queryKey: [...projectKey(projectId, NOUN), connectionId, 'tools'],
    queryFn: async ({ signal }): Promise<ServerTool[]> => {
      const params = { path: { project_id: projectId, connection_id: connectionId } };
      return (await bodyOf(api.GET(`${ONE}/tools`, { params, signal }))).items;
    },
  });
}

/** A change after which everything about connections, and the list of tools, is read again. */
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

const at = (projectId: string, connectionId: string) => ({
  path: { project_id: projectId, connection_id: connectionId },
});

export interface SavedConnection {
  body: NewConnection;
  /** The connection that is changed; a new one is made without it. */
  changed: Connection | null;
}

export function useSaveConnection(projectId: string) {
  return useChange(projectId, ({ body, changed }: SavedConnection) =>
    changed === null
      ? bodyOf(api.POST(ALL, { params: { path: { project_id: projectId } }, body }))
      : bodyOf(
          api.PUT(ONE, {
            params: {
              ...at(projectId, changed.id),
              header: { 'if-match': `"${changed.revision}"` },
            },
            body,
          }),
        ),
  );
}

export function useDeleteConnection(projectId: string) {
  return useChange(projectId, (id: string) => api.DELETE(ONE, { params: at(projectId, id) }));
}

export function useRestoreConnection(projectId: string) {
  return useChange(projectId, (id: string) =>
    bodyOf(api.POST(`${ONE}/restore`, { params: at(projectId, id) })),
  );
}

export function useCheckConnection(projectId: string) {
  return useChange(projectId, (id: string) =>
    bodyOf(api.POST(`${ONE}/check`, { params: at(projectId, id) })),
  );
}

/** Where the browser must go so that a person signs in to an MCP server. */
export function useStartSignIn(projectId: string) {
  return useChange(projectId, (id: string) =>
    bodyOf(api.POST(`${ONE}/sign-in`, { params: at(projectId, id) })),
  );
}

export function useSignOutOfServer(projectId: string) {
  return useChange(projectId, (id: string) =>
    api.POST(`${ONE}/sign-out`, { params: at(projectId, id) }),
  );
}

export function useAcceptProgram(projectId: string) {
  return useChange(projectId, ({ id, hash }: { id: string; hash: string }) =>
    bodyOf(api.POST(`${ONE}/program`, { params: at(projectId, id), body: { hash } })),
  );
}

export function useLookAtTools(projectId: string) {
  return useChange(projectId, (id: string) =>
    bodyOf(api.POST(`${ONE}/tools/look`, { params: at(projectId, id) })),
  );
}

export function useAcceptTools(projectId: string) {
  interface Accepted {
    id: string;
    tools: ServerTool[];
    /** Tool → what a person confirmed its arguments to be for. */
    roles?: AcceptedTools['roles'];
  }
  return useChange(projectId, ({ id, tools, roles = {} }: Accepted) =>
    bodyOf(
      api.POST(`${ONE}/tools/accept`, {
        params: at(projectId, id),
        body: { hashes: Object.fromEntries(tools.map(({ name, hash }) => [name, hash])), roles },
      }),
    ),
  );
}

export function useConfirmRoles(projectId: string) {
  interface Confirmed {
    id: string;
    tool: ServerTool;
    roles: Schemas['ToolRolesIn']['roles'];
  }
  return useChange(projectId, ({ id, tool, roles }: Confirmed) =>
    bodyOf(
      api.PUT(`${ONE}/tools/{tool_name}/roles`, {
        params: { path: { project_id: projectId, connection_id: id, tool_name: tool.name } },
        body: { hash: tool.hash, roles },
      }),
    ),
  );
}

export function useWithdrawTool(projectId: string) {
  return useChange(projectId, ({ id, name }: { id: string; name: string }) =>
    bodyOf(
      api.POST(`${ONE}/tools/{tool_name}/withdraw`, {
        params: { path: { project_id: projectId, connection_id: id, tool_name: name } },
      }),
    ),
  );
}

export function useSetToolRisk(projectId: string) {
  interface Choice {
    id: string;
    name: string;
    risk: ServerTool['chosen_risk'];
  }
  return useChange(projectId, ({ id, name, risk }: Choice) =>
    bodyOf(
      api.PUT(`${ONE}/tools/{tool_name}/risk`, {
        params: { path: { project_id: projectId, connection_id: id, tool_name: name } },
        body: { risk },
      }),
    ),
  );
}

export function useLookForConnections(projectId: string) {
  return useChange(projectId, () =>
    bodyOf(api.POST(`${PROPOSALS}/look`, { params: { path: { project_id: projectId } } })),
  );
}

export function useAcceptProposal(projectId: string) {
  interface Accepted {
    id: string;
    settings: Record<string, unknown>;
  }
  return useChange(projectId, ({ id, settings }: Accepted) =>
    bodyOf(
      api.POST(`${PROPOSALS}/{proposal_id}/accept`, {
        params: { path: { project_id: projectId, proposal_id: id } },
        body: { settings, scope_hint: '' },
      }),
    ),
  );
}

export function useDismissProposal(projectId: string) {
  return useChange(projectId, (id: string) =>
    api.POST(`${PROPOSALS}/{proposal_id}/dismiss`, {
      params: { path: { project_id: projectId, proposal_id: id } },
    }),
  );
}

export function useBringBackProposal(projectId: string) {
  return useChange(projectId, (id: string) =>
    bodyOf(
      api.POST(`${PROPOSALS}/{proposal_id}/bring-back`, {
        params: { path: { project_id: projectId, proposal_id: id } },
      }),
    ),
  );
}
