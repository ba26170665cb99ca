/** The command palette: type a few letters, choose with the arrows, press Enter. */
import { t } from '@lingui/core/macro';
import { Modal, useMantineColorScheme } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { BookOpen, LogOut, Map, Plus, Search, SunMoon } from 'lucide-react';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { SHORTEST_SEARCH, searchQuery } from '@/api/search';
import { useSession } from '@/api/session';
import { useDialog } from '@/components/use-search-param';
import { COLOUR_SCHEMES, openDocumentation, useLeave } from './account';
import { type Command, hitCommands, navigationCommands, searchCommands } from './commands';
import { takeEarly } from './early-keys';
import classes from './Palette.module.css';
import { projectPath, useCurrentProject } from './project';
import { mayCreateProject } from './projects-menu';
import { registry } from './registry';

interface Props {
  opened: boolean;
  onClose: () => void;
}

export default function Palette({ opened, onClose }: Props) {
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      withCloseButton={false}
      centered={false}
      yOffset="12vh"
      size="34rem"
      padding={0}
      // At once: what is typed right after Ctrl-K must not be lost.
      transitionProps={{ duration: 0 }}
      attributes={{ content: { 'aria-label': t`Search and commands` } }}
    >
      <CommandList onClose={onClose} />
    </Modal>
  );
}

function useCommands(): Command[] {
  const session = useSession();
  const project = useCurrentProject();
  const { setColorScheme } = useMantineColorScheme();
  const newProject = useDialog('new-project');
  const leave = useLeave();
  const create: Command = {
    id: 'new-project',
    label: t`New project`,
    group: t`Actions`,
    icon: Plus,
    run: newProject.open,
  };
  return [
    ...navigationCommands(registry, session, project),
    ...(mayCreateProject(session) ? [create] : []),
    ...COLOUR_SCHEMES.map(({ value, label }) => ({
      id: `scheme:${value}`,
      label: t`Appearance: ${label}`,
      group: t`Account`,
      icon: SunMoon,
      keywords: t`theme, colour`.split(', '),
      run: () => setColorScheme(value),
    })),
    {
      id: 'documentation',
      label: t`Documentation`,
      group: t`Help`,
      icon: BookOpen,
      keywords: t`help, guide, tutorial, reference, manual, docs`.split(', '),
      run: openDocumentation,
    },
    ...(project
      ? [
          {
            id: 'tour',
            label: t`Take the tour`,
            group: t`Help`,
            icon: Map,
            keywords: t`help, introduction, start`.split(', '),
            href: `${projectPath(project.id)}?dialog=tour`,
          },
        ]
      : []),
    {
      id: 'sign-out',
      label: t`Sign out`,
      group: t`Account`,
      icon: LogOut,
      keywords: t`log`.split(', '),
      run: leave,
    },
  ];
}

const PAUSE = 150;

interface Found {
  commands: Command[];
  /** Whether an answer is still to come. */
  searching: boolean;
}

/** What the project has that holds the typed words. */
function useFound(query: string): Found {
  const project = useCurrentProject();
  const words = query.trim();
  const [asked] = useDebouncedValue(words, PAUSE);
  const { data, isFetching, isPlaceholderData } = useQuery(searchQuery(project?.id, asked));
  if (project === undefined || words.length < SHORTEST_SEARCH) {
    return { commands: [], searching: false };
  }
  return {
    commands: data ? hitCommands(project.id, data.items) : [],
    searching: asked !== words || (isFetching && (isPlaceholderData || !data)),
  };
}

/** Groups keep the order in which their first command appears. */
function inGroups(commands: Command[]): [string, Command[]][] {
  return [...globalThis.Map.groupBy(commands, ({ group }) => group)];
}

function CommandList({ onClose }: { onClose: () => void }) {
  const [query, setQuery] = useState(takeEarly);
  const [index, setIndex] = useState(0);
  const navigate = useNavigate();
  const id = useId();
  const found = useFound(query);
  const groups = inGroups([...searchCommands(useCommands(), query), ...found.commands]);
  const shown = groups.flatMap(([, commands]) => commands);
  const selected = shown[Math.min(index, shown.length - 1)];
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [selected?.id]);

  const choose = (command: Command | undefined) => {
    if (!command) return;
    onClose();
    if (command.href !== undefined) void navigate({ href: command.href });
    else command.run?.();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && shown.length > 0) {
      event.preventDefault();
      setIndex((Math.min(index, shown.length - 1) + step + shown.length) % shown.length);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      choose(selected);
    }
  };

  return (
    <div>
      <div className={classes.search}>
        <Search size={16} aria-hidden />
        <input
          data-autofocus
          // eslint-disable-next-line jsx-a11y/no-autofocus -- opened by the keyboard, for typing
          autoFocus
          role="combobox"
          aria-label={t`Search pages, data, runs, people and actions`}
          aria-expanded
          aria-controls={id}
          aria-activedescendant={selected ? `${id}-${selected.id}` : undefined}
          aria-autocomplete="list"
          autoComplete="off"
          placeholder={t`Search pages, data, runs, people and actions`}
          value={query}
          onChange={(event) => {
            setQuery(event.currentTarget.value);
            setIndex(0);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <div
        className={classes.list}
        role="listbox"
        id={id}
        aria-label={t`Commands`}
        ref={list}
        tabIndex={-1}
      >
        {groups.map(([group, commands]) => (
          <div key={group} role="group" aria-label={group}>
            <div className={classes.group} aria-hidden>
              {group}
            </div>
            {commands.map((command) => (
              <Option
                key={command.id}
                id={`${id}-${command.id}`}
                command={command}
                selected={command === selected}
                onChoose={() => choose(command)}
                onPoint={() => setIndex(shown.indexOf(command))}
              />
            ))}
          </div>
        ))}
      </div>
      <div className={classes.empty} role="status">
        {shown.length === 0 && (found.searching ? t`Searching…` : t`Nothing matches “${query}”.`)}
      </div>
    </div>
  );
}

interface OptionProps {
  id: string;
  command: Command;
  selected: boolean;
  onChoose: () => void;
  onPoint: () => void;
}

function Option({ id, command, selected, onChoose, onPoint }: OptionProps) {
  const { icon: Icon, label, detail } = command;
  return (
    // The keyboard stays in the search field, which names the selected option.
    // eslint-disable-next-line jsx-a11y/click-events-have-key-events
    <div
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={selected}
      className={classes.option}
      onClick={onChoose}
      onMouseMove={onPoint}
    >
      <Icon size={15} aria-hidden />
      <span className={classes.label}>{label}</span>
      {detail && <span className={classes.detail}>{detail}</span>}
    </div>
  );
}
