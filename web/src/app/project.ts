/** Which project the page is about, and the addresses of its pages. */
import { roleAtLeast } from '@/api/roles';
import { useSession } from '@/api/session';
import type { ProjectRef, Role, Session } from '@/api/types';
import { usePathParam } from '@/components/use-path-param';

const LAST_PROJECT = 'steward.last-project';

export function rememberProject(projectId: string): void {
  try {
    localStorage.setItem(LAST_PROJECT, projectId);
  } catch {
    // Storage is blocked: the first project will be shown next time.
  }
}

/** The project to show when the address names none: the last one, or the first. */
export function preferredProject(session: Session): ProjectRef | undefined {
  let last: string | null = null;
  try {
    last = localStorage.getItem(LAST_PROJECT);
  } catch {
    // See rememberProject.
  }
  return session.projects.find(({ id }) => id === last) ?? session.projects[0];
}

/** The project of the address, or the one last used on pages outside any project. */
export function useCurrentProject(): ProjectRef | undefined {
  const session = useSession();
  const projectId = usePathParam('projectId');
  if (projectId === undefined) return preferredProject(session);
  return session.projects.find(({ id }) => id === projectId);
}

/** The project of a page under /p/$projectId. */
export function useProject(): ProjectRef {
  const project = useCurrentProject();
  if (!project) throw new Error('This part of the page needs a project.');
  return project;
}

/** Whether the signed-in person has at least this role in the current project. */
export function useMay(minimum: Role): boolean {
  const project = useCurrentProject();
  return project !== undefined && roleAtLeast(project.role, minimum);
}

/** The address of a page of a project: `projectPath(id, 'files', fileId)`. */
export function projectPath(projectId: string, ...parts: string[]): string {
  return ['/p', projectId, ...parts].filter(Boolean).join('/');
}
