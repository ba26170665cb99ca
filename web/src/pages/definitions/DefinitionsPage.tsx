/** What words mean in the project: proposed from the data, confirmed, changed or rejected by people. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Button, SegmentedControl, Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { BookA, CheckCheck, Plus } from 'lucide-react';
import { type ReactNode, useMemo, useState } from 'react';
import { definitionsQuery, type Entry, type LoadedDefinitions } from '@/api/definitions';
import { useMay, useProject } from '@/app/project';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { Page } from '@/components/Page';
import { Section } from '@/components/Section';
import { useSearchParam } from '@/components/use-search-param';
import classes from './definitions.module.css';
import { ExportDefinitions, ImportDefinitions } from './DefinitionFiles';
import { DefinitionHistory } from './DefinitionHistory';
import { type Edited, EntryDialog } from './EntryDialog';
import { type EntryActions, EntryLine } from './EntryLine';
import {
  arrange,
  everyEntry,
  onlyProposed,
  type ShownDefinitions,
  type ShownEntry,
} from './entries';
import { TableDefinitions } from './TableDefinitions';
import { useChange } from './use-definitions';

const DESCRIPTION = t`What columns, figures and words mean here. Steward proposes definitions from your data; chat answers by them. Confirm or correct them, and answers get better.`;

export default function DefinitionsPage() {
  const project = useProject();
  const query = useQuery(definitionsQuery(project.id));
  if (query.isError && !query.data) {
    return (
      <Page title={t`Definitions`} description={DESCRIPTION}>
        <ErrorState error={query.error} retry={() => void query.refetch()} />
      </Page>
    );
  }
  if (!query.data) {
    return (
      <Page title={t`Definitions`} description={DESCRIPTION}>
        <Skeleton height={160} aria-busy />
      </Page>
    );
  }
  return <Shown loaded={query.data} />;
}

function Shown({ loaded }: { loaded: LoadedDefinitions }) {
  const { revision, definitions, missing } = loaded;
  const mayEdit = useMay('editor');
  const { change, isPending } = useChange(revision);
  const [view, setView] = useSearchParam('show');
  const [edited, setEdited] = useState<Edited | null>(null);
  const all = useMemo(() => arrange(definitions), [definitions]);
  const open = everyEntry(all).filter(({ state }) => state === 'proposed').length;
  const shown = view === 'open' ? onlyProposed(all) : all;
  const tables = all.tables.map(({ table }) => table.name);
  const actions: EntryActions = {
    mayEdit,
    onConfirm: ({ pointer, name }) =>
      change({ kind: 'confirm', entries: [pointer] }, t`${name} confirmed`),
    onReject: ({ pointer, name }) =>
      change({ kind: 'reject', entries: [pointer] }, t`${name} rejected`),
    onEdit: (entry) => setEdited({ entry }),
  };
  const isEmpty = everyEntry(all).length === 0;
  return (
    <Page
      title={t`Definitions`}
      description={DESCRIPTION}
      actions={
        <>
          {mayEdit && <ImportDefinitions revision={revision} />}
          {!isEmpty && <ExportDefinitions />}
          {mayEdit && open > 0 && (
            <Button
              leftSection={<CheckCheck size={14} aria-hidden />}
              loading={isPending}
              onClick={() =>
                change({ kind: 'confirm', entries: null }, t`${open} definitions confirmed`)
              }
            >
              {t`Confirm all (${open})`}
            </Button>
          )}
        </>
      }
      toolbar={
        <SegmentedControl
          size="sm"
          aria-label={t`Which definitions to show`}
          data={[
            { value: 'all', label: t`All` },
            { value: 'open', label: t`To confirm (${open})` },
            { value: 'history', label: t`History` },
          ]}
          value={view ?? 'all'}
          onChange={(chosen) => setView(chosen === 'all' ? null : chosen)}
        />
      }
    >
      {view === 'history' ? (
        <DefinitionHistory
          current={revision}
          mayEdit={mayEdit}
          onRestore={(earlier) =>
            change({ kind: 'restore', revision: earlier }, t`Revision ${earlier} restored`)
          }
        />
      ) : isEmpty ? (
        <EmptyState icon={BookA} picture="list" title={t`No definitions yet`}>
          {t`Load a dataset, and Steward proposes what its columns mean.`}
        </EmptyState>
      ) : (
        <Lists
          shown={shown}
          missing={new Set(missing)}
          isFiltered={view === 'open'}
          actions={actions}
          onSet={(entry, value) =>
            change(
              { kind: 'set', changes: [{ entry: entry.pointer, value }] },
              t`${entry.name} changed`,
            )
          }
          onNew={setEdited}
        />
      )}
      <EntryDialog
        edited={edited}
        revision={revision}
        isChanging={isPending}
        tables={tables}
        onClose={() => setEdited(null)}
      />
    </Page>
  );
}

interface ListsProps {
  shown: ShownDefinitions;
  missing: ReadonlySet<string>;
  isFiltered: boolean;
  actions: EntryActions;
  onSet: (entry: ShownEntry, value: Entry) => void;
  onNew: (edited: Edited) => void;
}

function Lists({ shown, missing, isFiltered, actions, onSet, onNew }: ListsProps) {
  const { tables, metrics, relationships, questions } = shown;
  const [entry] = useSearchParam('entry');
  if (isFiltered && everyEntry(shown).every(({ state }) => state !== 'proposed')) {
    return (
      <EmptyState icon={CheckCheck} title={t`Nothing to confirm`}>
        {t`You have decided on every definition that Steward proposed.`}
      </EmptyState>
    );
  }
  const add = (kind: 'metric' | 'relationship', label: string) =>
    actions.mayEdit && (
      <Button
        variant="default"
        size="compact-sm"
        leftSection={<Plus size={13} aria-hidden />}
        onClick={() => onNew({ kind })}
      >
        {label}
      </Button>
    );
  return (
    <>
      <Section title={t`Tables`} description={t`What one row is, and what each column is for.`}>
        {tables.map((table) => (
          <TableDefinitions
            key={table.table.pointer}
            shown={table}
            missing={missing}
            isOpen={isFiltered || tables.length === 1 || isInside(entry, table.table.pointer)}
            onSet={onSet}
            onAdd={(kind, name) => onNew({ kind, table: name })}
            {...actions}
          />
        ))}
      </Section>
      <EntryList
        title={t`Metrics`}
        description={t`Figures with a name and a formula.`}
        action={add('metric', t`New metric`)}
        entries={metrics}
        missing={missing}
        actions={actions}
        fact={({ value }) => (
          <>
            <Trans>
              <code>{String(value.formula)}</code> over {String(value.over)}
              {typeof value.unit === 'string' && value.unit !== '' && t`, in ${value.unit}`}
              {Array.isArray(value.synonyms) && t`, also called ${value.synonyms.join(', ')}`}
            </Trans>
          </>
        )}
      />
      <EntryList
        title={t`Relationships`}
        description={t`Which rows belong together; queries join along these.`}
        action={add('relationship', t`New relationship`)}
        entries={relationships}
        missing={missing}
        actions={actions}
        fact={({ value }) =>
          value.cardinality === 'one_to_one'
            ? t`Each row points at its own row.`
            : t`Many rows point at one.`
        }
      />
      <EntryList
        title={t`Confirmed questions`}
        description={t`Questions whose reading somebody confirmed; Steward reads similar ones the same way.`}
        entries={questions}
        missing={missing}
        actions={actions}
      />
    </>
  );
}

/** Whether an entry is a table's own or one of what it holds. */
function isInside(entry: string | null, table: string): boolean {
  return entry === table || (entry?.startsWith(`${table}/`) ?? false);
}

interface EntryListProps {
  title: string;
  description: string;
  action?: ReactNode;
  entries: ShownEntry[];
  missing: ReadonlySet<string>;
  actions: EntryActions;
  fact?: (entry: ShownEntry) => ReactNode;
}

function EntryList(props: EntryListProps) {
  const { title, description, action, entries, missing, actions, fact } = props;
  if (entries.length === 0 && !action) return null;
  return (
    <Section title={title} description={description} actions={action}>
      {entries.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t`None yet.`}
        </Text>
      ) : (
        <ul className={`${classes.list} ${classes.framed}`} aria-label={title}>
          {entries.map((entry) => (
            <EntryLine
              key={entry.pointer}
              entry={entry}
              isMissing={missing.has(entry.pointer)}
              {...actions}
            >
              {fact && <Text size="xs">{fact(entry)}</Text>}
            </EntryLine>
          ))}
        </ul>
      )}
    </Section>
  );
}
