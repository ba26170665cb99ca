/** What a folder under src/pages says about itself; its route, navigation entry and palette command follow. */
import { t } from '@lingui/core/macro';
import type { LucideIcon } from 'lucide-react';
import type { ComponentType } from 'react';
import type { Role } from '@/api/types';

/** What people come for; `home` stands above all of them, without a heading. */
export const SECTIONS = {
  home: null,
  ask: t`Ask`,
  data: t`Data`,
  automate: t`Automate`,
  watch: t`Watch`,
  manage: t`Manage`,
} as const;

export type Section = keyof typeof SECTIONS;

export type LoadComponent = () => Promise<{ default: ComponentType }>;

/** A quick action of the command palette: a page opened in a certain state, or something done at once. */
interface PageCommand {
  label: string;
  search?: Record<string, string>;
  run?: (projectId: string) => void;
  minimumRole?: Role;
}

interface PageBasics {
  /** Shown in the navigation, the palette and the browser's title. */
  title: string;
  component: LoadComponent;
}

/** A page of a project, at /p/$projectId/<path>. */
export interface ProjectPage extends PageBasics {
  scope: 'project';
  path: string;
  icon: LucideIcon;
  section: Section;
  /** Among the pages of its section. */
  order: number;
  minimumRole: Role;
  /** Name of a path parameter that the page shows over itself, such as one item in a drawer. */
  item?: string;
  /** Pages below this one that the navigation does not list, such as one item of a list. */
  children?: { path: string; component: LoadComponent }[];
  commands?: PageCommand[];
  /** Words that find the page in the palette beside its title. */
  keywords?: string[];
  /** What stands behind the title in the navigation, such as a number. */
  badge?: ComponentType<{ projectId: string }>;
}

/** A page of the signed-in person, at /<path>, reached from the account menu. */
export interface AccountPage extends PageBasics {
  scope: 'account';
  path: string;
  icon: LucideIcon;
  order: number;
  keywords?: string[];
}

/** A page for visitors, at /<path>, without the shell. */
export interface PublicPage extends PageBasics {
  scope: 'public';
  path: string;
}

export type PageDefinition = ProjectPage | AccountPage | PublicPage;

export function definePage<Definition extends PageDefinition>(page: Definition): Definition {
  return page;
}
