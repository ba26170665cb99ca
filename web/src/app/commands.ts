/** What the command palette offers: pages and their quick actions, projects, and account actions. */
import { t } from '@lingui/core/macro';
import type { LucideIcon } from 'lucide-react';
import {
  BookOpenCheck,
  Bot,
  Cable,
  Columns3,
  FolderOpen,
  MessageSquare,
  Play,
  Table2,
  User,
  Zap,
} from 'lucide-react';
import { roleAtLeast } from '@/api/roles';
import type { Hit } from '@/api/search';
import type { ProjectRef, Session } from '@/api/types';
import { projectPath } from './project';
import { pagesFor, type Registry } from './registry';
import { stringifySearch } from './search';

export interface Command {
  id: string;
  label: string;
  group: string;
  icon: LucideIcon;
  keywords?: string[];
  /** What sets it apart from others of the same name. */
  detail?: string;
  /** Either an address to open … */
  href?: string;
  /** … or something to do. */
  run?: () => void;
}

export function navigationCommands(
  registry: Registry,
  session: Session,
  current: ProjectRef | undefined,
): Command[] {
  const account = registry.account.map((page): Command => ({
    id: `account:${page.path}`,
    label: page.title,
    group: t`Pages`,
    icon: page.icon,
    keywords: page.keywords ?? [],
    href: `/${page.path}`,
  }));
  return [
    ...(current ? pageCommands(registry, current) : []),
    ...account,
    ...projectCommands(session, current),
  ];
}

function pageCommands(registry: Registry, project: ProjectRef): Command[] {
  const pages = pagesFor(registry.project, project.role);
  const entries = pages.map((page): Command => ({
    id: `page:${page.path}`,
    label: page.title,
    group: t`Pages`,
    icon: page.icon,
    keywords: page.keywords ?? [],
    href: projectPath(project.id, page.path),
  }));
  const actions = pages.flatMap((page) =>
    (page.commands ?? [])
      .filter(({ minimumRole }) => roleAtLeast(project.role, minimumRole ?? page.minimumRole))
      .map(({ label, search = {}, run }): Command => ({
        id: `action:${page.path}:${label}`,
        label,
        group: t`Actions`,
        icon: Zap,
        ...(run
          ? { run: () => run(project.id) }
          : { href: projectPath(project.id, page.path) + stringifySearch(search) }),
      })),
  );
  return [...entries, ...actions];
}

function projectCommands(session: Session, current: ProjectRef | undefined): Command[] {
  return session.projects
    .filter(({ id }) => id !== current?.id)
    .map((project) => ({
      id: `project:${project.id}`,
      label: t`Switch to ${project.name}`,
      group: t`Projects`,
      icon: FolderOpen,
      keywords: [project.organisation.name],
      href: projectPath(project.id),
    }));
}

/** How what was found is shown, and where it leads. */
const HITS: Record<Hit['kind'], { group: string; icon: LucideIcon; path: (id: string) => string }> =
  {
    dataset: { group: t`Datasets`, icon: Table2, path: (id) => `datasets/${id}` },
    column: { group: t`Columns`, icon: Columns3, path: (id) => `datasets/${id}` },
    playbook: { group: t`Playbooks`, icon: BookOpenCheck, path: (id) => `playbooks/${id}` },
    run: { group: t`Runs`, icon: Play, path: (id) => `runs/${id}` },
    conversation: { group: t`Conversations`, icon: MessageSquare, path: (id) => `chat/${id}` },
    agent: { group: t`Agents`, icon: Bot, path: (id) => `agents/${id}` },
    connection: { group: t`Connections`, icon: Cable, path: () => 'connections' },
    person: { group: t`People`, icon: User, path: () => 'members' },
  };

export function hitCommands(projectId: string, hits: Hit[]): Command[] {
  return hits.map((hit) => {
    const { group, icon, path } = HITS[hit.kind];
    return {
      id: `${hit.kind}:${hit.id}:${hit.title}`,
      label: hit.title,
      detail: hit.detail,
      group,
      icon,
      href: projectPath(projectId, path(encodeURIComponent(hit.id))),
    };
  });
}

/** Commands that hold every typed word, those that begin with the first word first. */
export function searchCommands(commands: Command[], query: string): Command[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const first = words[0];
  if (first === undefined) return commands;
  const text = ({ label, keywords }: Command) =>
    [label, ...(keywords ?? [])].join(' ').toLowerCase();
  const matching = commands.filter((command) =>
    words.every((word) => text(command).includes(word)),
  );
  const rank = ({ label }: Command) => (label.toLowerCase().startsWith(first) ? 0 : 1);
  return matching.toSorted((a, b) => rank(a) - rank(b));
}
