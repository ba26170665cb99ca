import { describe, expect, it } from 'vitest';
import { signInAddress } from '@/app/leaving';
import { preferredProject, projectPath, rememberProject } from '@/app/project';
import { groupByOrganisation, initial, samePageIn } from '@/app/projects-menu';
import { parseSearch, safeNext, stringifySearch } from '@/app/search';
import { sessionOf } from '../harness';

describe('search parameters', () => {
  it('stay strings, so that a token of digits survives', () => {
    expect(parseSearch('?link=0012345678901234567890&x=true')).toEqual({
      link: '0012345678901234567890',
      x: 'true',
    });
  });

  it('are written without quotes and without what is undefined', () => {
    expect(stringifySearch({ dialog: 'invite', rows: 50, gone: undefined })).toBe(
      '?dialog=invite&rows=50',
    );
    expect(stringifySearch({ gone: undefined })).toBe('');
  });
});

describe('the way back after signing in', () => {
  it('leads to where one was', () => {
    const here = { pathname: '/p/prj_1/tokens', search: '?show=all', hash: '' };
    const next = new URLSearchParams(signInAddress(here).split('?')[1]).get('next');
    expect(safeNext(next)).toBe('/p/prj_1/tokens?show=all');
    expect(signInAddress({ pathname: '/', search: '', hash: '' })).toBe('/sign-in');
  });

  it.each([
    'https://evil.example/x',
    '//evil.example',
    '//evil.example/p/prj_1',
    '/\\evil.example',
    '\\\\evil.example',
    'javascript:alert(1)',
    'p/prj_1',
    '/sign-in?next=/x',
    undefined,
    7,
  ])('never leads elsewhere: %s', (next) => {
    expect(safeNext(next)).toBe('/');
  });
});

describe('projects', () => {
  const organisation = { id: 'o', name: 'Acme' };
  const project = (id: string, name: string, owner = organisation) => ({
    id,
    name,
    role: 'viewer' as const,
    is_demo: false,
    organisation: owner,
  });

  it('are remembered, and forgotten when one may no longer open them', () => {
    const session = sessionOf('owner', { projects: [project('a', 'A'), project('b', 'B')] });
    rememberProject('b');
    expect(preferredProject(session)?.id).toBe('b');
    rememberProject('elsewhere');
    expect(preferredProject(session)?.id).toBe('a');
  });

  it('are grouped by organisation, both by name', () => {
    const other = { id: 'p', name: 'Aardvark' };
    const groups = groupByOrganisation([
      project('1', 'Zebra'),
      project('2', 'Bee'),
      project('3', 'Yak', other),
    ]);
    expect(groups.map(([name, list]) => [name, list.map((item) => item.name)])).toEqual([
      ['Aardvark', ['Yak']],
      ['Acme', ['Bee', 'Zebra']],
    ]);
  });

  it('are switched without leaving the page, but an item stays behind', () => {
    expect(samePageIn('b', '/p/a/files/fil_1')).toBe('/p/b/files');
    expect(samePageIn('b', '/p/a')).toBe('/p/b');
    expect(samePageIn('b', '/profile')).toBe('/p/b');
    expect(projectPath('a', 'files', 'fil_1')).toBe('/p/a/files/fil_1');
  });

  it('show an initial of any script', () => {
    expect([initial(' demo'), initial('éclair'), initial('')]).toEqual(['D', 'É', '?']);
  });
});
