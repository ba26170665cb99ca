import { House } from 'lucide-react';
import { describe, expect, it } from 'vitest';
import type { ProjectPage } from '@/app/page-definition';
import { buildRegistry, pagesFor, registry } from '@/app/registry';

const page = (change: Partial<ProjectPage>): ProjectPage => ({
  scope: 'project',
  path: 'x',
  title: 'X',
  icon: House,
  section: 'data',
  order: 1,
  minimumRole: 'viewer',
  component: () => Promise.reject(new Error('not needed here')),
  ...change,
});

describe('the registry', () => {
  it('sorts pages by their section and order, not by their folder', () => {
    const { project } = buildRegistry({
      'a/page.tsx': { page: page({ path: 'late', order: 20 }) },
      'b/page.tsx': { page: page({ path: 'early', order: 10 }) },
      'c/page.tsx': { page: page({ path: 'first', order: 30, section: 'ask' }) },
    });
    expect(project.map(({ path }) => path)).toEqual(['first', 'early', 'late']);
  });

  it('refuses two pages at one address and names both folders', () => {
    const twice = {
      'pages/a/page.tsx': { page: page({ path: 'runs' }) },
      'pages/b/page.tsx': { page: page({ path: 'runs' }) },
    };
    expect(() => buildRegistry(twice)).toThrow('pages/b/page.tsx and pages/a/page.tsx both claim');
  });

  it('refuses a folder that forgot to export its page', () => {
    expect(() => buildRegistry({ 'pages/c/page.tsx': {} })).toThrow('must export "page"');
  });

  it('shows only what the role may use', () => {
    const pages = [
      page({ path: 'a', minimumRole: 'viewer' }),
      page({ path: 'b', minimumRole: 'admin' }),
      page({ path: 'c', minimumRole: 'admin', section: 'manage' }),
    ];
    const paths = (list: ProjectPage[]) => list.map(({ path }) => path);
    expect(paths(pagesFor(pages, 'editor'))).toEqual(['a']);
    expect(paths(pagesFor(pages, 'owner'))).toEqual(['a', 'b', 'c']);
  });

  it('finds the pages of the app and every one of them loads', async () => {
    expect(registry.project[0]).toMatchObject({ path: '', title: 'Home' });
    const loaders = [...registry.project, ...registry.account, ...registry.public].flatMap(
      (found) => [found, ...('children' in found ? (found.children ?? []) : [])],
    );
    expect(loaders.length).toBeGreaterThan(9);
    for (const { component } of loaders) {
      expect(typeof (await component()).default).toBe('function');
    }
  });
});
