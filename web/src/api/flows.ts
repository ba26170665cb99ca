/** What flows are drawn from: the types of nodes and triggers, as the server has them. */
import { queryOptions } from '@tanstack/react-query';
import type { Language } from '@/flows/graph';
import { api, bodyOf } from './client';
import type { components } from './schema';
import type { Answer } from './types';

export type FlowPalette = Answer<components['schemas']['FlowPalette']>;
export type NodeType = FlowPalette['nodes'][number];

export function flowPaletteQuery(projectId: string) {
  return queryOptions({
    queryKey: ['flow-palette', projectId],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/projects/{project_id}/flows/palette', {
          params: { path: { project_id: projectId } },
          signal,
        }),
      ),
    staleTime: Infinity,
  });
}

export function languageOf({ nodes, telling, expressions }: FlowPalette): Language {
  return { types: new Map(nodes.map((node) => [node.type, node])), telling, expressions };
}
