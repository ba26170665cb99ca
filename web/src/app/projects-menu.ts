/** What the project menu offers. */
import { roleAtLeast } from '@/api/roles';
import type { ProjectRef, Session } from '@/api/types';
import { projectPath } from './project';

/** Projects by organisation, both by name. */
export function groupByOrganisation(projects: ProjectRef[]): [string, ProjectRef[]][] {
  const byName = projects.toSorted((a, b) => a.name.localeCompare(b.name));
  const groups = Map.groupBy(byName, ({ organisation }) => organisation.name);
  return [...groups].sort(([a], [b]) => a.localeCompare(b));
}

/** The page to open in another project: the same one, but not an item that only this project has. */
export function samePageIn(projectId: string, pathname: string): string {
  const [, area, , page] = pathname.split('/');
  return projectPath(projectId, area === 'p' ? (page ?? '') : '');
}

/** The server lets admins of an organisation create projects; a role in one of its projects hints at that. */
export function mayCreateProject({ projects }: Session): boolean {
  return projects.length === 0 || projects.some(({ role }) => roleAtLeast(role, 'admin'));
}

export function initial(name: string): string {
  return String.fromCodePoint(name.trim().codePointAt(0) ?? 63).toUpperCase();
}
