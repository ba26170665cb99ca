/** Recipes: ready plans with parameters, checked against the data before they start. */
import { queryOptions } from '@tanstack/react-query';
import type { Suggestion } from './chat-types';
import { api, bodyOf } from './client';
import { projectKey } from './keys';
import type { ListPage } from './types';

type Untyped = (
  path: string,
  init: Record<string, unknown>,
) => Promise<{ data?: object; response: Response }>;
const get = api.GET as unknown as Untyped;
const post = api.POST as unknown as Untyped;

export interface Recipe {
  id: string;
  title: string;
  description: string;
  /** JSON Schema of what it needs to know. */
  parameters: Record<string, unknown>;
}

export interface PreflightCheck {
  name: string;
  verdict: 'go' | 'warn' | 'stop';
  message: string;
}

export interface Preflight {
  verdict: 'go' | 'warn' | 'stop';
  checks: PreflightCheck[];
}

const RECIPES = '/api/v1/projects/{project_id}/recipes';
const at = (projectId: string, recipeId: string) => ({
  path: { project_id: projectId, recipe_id: recipeId },
});

export function recipesQuery(projectId: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'recipe'),
    queryFn: async ({ signal }) => {
      const params = { path: { project_id: projectId } };
      const answer = await bodyOf(get(RECIPES, { params, signal }));
      return (answer as unknown as ListPage<Recipe>).items;
    },
  });
}

export async function checkRecipe(
  projectId: string,
  recipeId: string,
  parameters: Record<string, unknown>,
): Promise<Preflight> {
  const body = { parameters };
  const answer = await bodyOf(
    post(`${RECIPES}/{recipe_id}/preflight`, { params: at(projectId, recipeId), body }),
  );
  return answer as unknown as Preflight;
}

/** What could be done next, from what is known about the datasets. */
export function suggestionsQuery(projectId: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'data', 'suggestions'),
    queryFn: async ({ signal }) => {
      const params = { path: { project_id: projectId } };
      const path = '/api/v1/projects/{project_id}/suggestions';
      const answer = await bodyOf(get(path, { params, signal }));
      return (answer as unknown as ListPage<Suggestion>).items;
    },
  });
}

/** Starts it as a turn of a thread. */
export async function startRecipe(
  projectId: string,
  recipeId: string,
  parameters: Record<string, unknown>,
  threadId: string | null,
): Promise<{ thread_id: string; run_id: string }> {
  const body = { parameters, thread_id: threadId };
  const answer = await bodyOf(
    post(`${RECIPES}/{recipe_id}/start`, { params: at(projectId, recipeId), body }),
  );
  return answer as unknown as { thread_id: string; run_id: string };
}
