/** Recipes: ready plans with parameters, checked against the data before they start. */
import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf } from './client';
import { projectKey } from './keys';
import type { components } from './schema';

type Schemas = components['schemas'];

/** A ready plan; its parameters are a JSON Schema. */
export type Recipe = Schemas['RecipeOut'];
export type Preflight = Schemas['PreflightOut'];

const RECIPES = '/api/v1/projects/{project_id}/recipes';
const at = (projectId: string, recipeId: string) => ({
  path: { project_id: projectId, recipe_id: recipeId },
});

export function recipesQuery(projectId: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'recipe'),
    queryFn: async ({ signal }) => {
      const params = { path: { project_id: projectId } };
      const { items } = await bodyOf(api.GET(RECIPES, { params, signal }));
      return items;
    },
  });
}

export function checkRecipe(
  projectId: string,
  recipeId: string,
  parameters: Record<string, unknown>,
): Promise<Preflight> {
  const params = at(projectId, recipeId);
  const body = { parameters, branch: 'main' };
  return bodyOf(api.POST(`${RECIPES}/{recipe_id}/preflight`, { params, body }));
}

/** Starts it as a turn of a thread, a new one where none is named. */
export function startRecipe(
  projectId: string,
  recipeId: string,
  parameters: Record<string, unknown>,
  threadId: string | null,
): Promise<{ thread_id: string; run_id: string }> {
  const params = at(projectId, recipeId);
  const body = { parameters, thread_id: threadId, branch: 'main' };
  return bodyOf(api.POST(`${RECIPES}/{recipe_id}/start`, { params, body }));
}

/** What could be done next, from what is known about the datasets. */
export function suggestionsQuery(projectId: string) {
  return queryOptions({
    queryKey: projectKey(projectId, 'data', 'suggestions'),
    queryFn: async ({ signal }) => {
      const params = { path: { project_id: projectId } };
      const path = '/api/v1/projects/{project_id}/suggestions';
      const { items } = await bodyOf(api.GET(path, { params, signal }));
      return items;
    },
  });
}
