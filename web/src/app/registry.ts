/** Finds every src/pages/<name>/page.tsx and puts them in order. */
import { roleAtLeast } from '@/api/roles';
import type { Role } from '@/api/types';
import {
  type AccountPage,
  type PageDefinition,
  type ProjectPage,
  type PublicPage,
  SECTIONS,
} from './page-definition';

const PLACES = Object.keys(SECTIONS);

export interface Registry {
  project: ProjectPage[];
  account: AccountPage[];
  public: PublicPage[];
}

/** Sorts pages by scope and order; two pages at one address are a mistake that must not pass silently. */
export function buildRegistry(modules: Record<string, { page?: PageDefinition }>): Registry {
  const registry: Registry = { project: [], account: [], public: [] };
  const taken = new Map<string, string>();
  for (const [file, { page }] of Object.entries(modules)) {
    if (!page) throw new Error(`${file} must export "page", made with definePage().`);
    const address = page.scope === 'project' ? `/p/$projectId/${page.path}` : `/${page.path}`;
    const other = taken.get(address);
    if (other) throw new Error(`${file} and ${other} both claim ${address}.`);
    taken.set(address, file);
    if (page.scope === 'project') registry.project.push(page);
    else if (page.scope === 'account') registry.account.push(page);
    else registry.public.push(page);
  }
  const place = ({ section }: ProjectPage) => PLACES.indexOf(section);
  registry.project.sort((a, b) => place(a) - place(b) || a.order - b.order);
  registry.account.sort((a, b) => a.order - b.order);
  return registry;
}

/** The pages that a person of this role may use. */
export function pagesFor(pages: readonly ProjectPage[], role: Role): ProjectPage[] {
  return pages.filter((page) => roleAtLeast(role, page.minimumRole));
}

export const registry = buildRegistry(
  import.meta.glob<{ page?: PageDefinition }>('../pages/*/page.tsx', { eager: true }),
);
