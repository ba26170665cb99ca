/** Shows a page only to those whose role may use it; the server refuses them in any case. */
import { t } from '@lingui/core/macro';
import { type AsyncRouteComponent, Navigate } from '@tanstack/react-router';
import { Lock } from 'lucide-react';
import { roleAtLeast, roleName } from '@/api/roles';
import { EmptyState } from '@/components/EmptyState';
import { Page } from '@/components/Page';
import type { ProjectPage } from './page-definition';
import { projectPath, useProject } from './project';

export function gatePage(page: ProjectPage, Component: AsyncRouteComponent<unknown>) {
  const Gated: AsyncRouteComponent<unknown> = () => {
    const project = useProject();
    if (roleAtLeast(project.role, page.minimumRole)) return <Component />;
    // The project at a glance has nothing for them: what is shared with them is their home.
    if (page.path === '') return <Navigate to={projectPath(project.id, 'playbooks')} replace />;
    return (
      <Page title={page.title}>
        <EmptyState
          icon={Lock}
          title={t`This page is for ${roleName(page.minimumRole)}s and above`}
        >
          {t`You are ${roleName(project.role)} in ${project.name}. An admin of the project can give you another role.`}
        </EmptyState>
      </Page>
    );
  };
  if (Component.preload) Gated.preload = Component.preload;
  return Gated;
}
