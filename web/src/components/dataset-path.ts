/** The address of a dataset's page; its name may hold spaces, percent signs and the like. */
import { projectPath } from '@/app/project';

export function datasetPath(projectId: string, name: string): string {
  return projectPath(projectId, 'datasets', encodeURIComponent(name));
}
