/** What is to be known about a call: what it would do, why it was decided so, and where its values come from. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Alert, Text } from '@mantine/core';
import { ShieldCheck, TriangleAlert } from 'lucide-react';
import type { CellChange, ChangePreview as DataPreview } from '@/api/data-types';
import type { CallPreview, Provenance, Rule } from '@/api/run-types';
import classes from './CallFacts.module.css';
import { PreviewFacts } from './ChangePreview';
import { Chip } from './Chip';
import { tableOf } from './value-table';
import { ValueView } from './ValueView';

/** Changes of datasets bring counts and cells; other tools what they have. */
export function CallPreviewView({ preview }: { preview: CallPreview }) {
  const { details, summary, irreversible } = preview;
  const rest = Object.entries(details).filter(
    ([name, value]) => !SHOWN_APART.has(name) && !isNothing(value),
  );
  const table = tableOf({ columns: details.columns, rows: details.rows });
  const shown = {
    summary,
    counts: (details.counts ?? {}) as Record<string, number>,
    warnings: (details.warnings ?? []) as string[],
    cells: (details.cells ?? []) as CellChange[],
    leftovers: (details.leftovers ?? []) as CellChange[],
    preview: {
      columns: (table?.columns ?? []).map((name) => ({ name, type: 'VARCHAR' })),
      rows: table?.rows ?? [],
    },
  };
  return (
    <>
      <PreviewFacts preview={shown as unknown as DataPreview} />
      {irreversible && (
        <Alert color="red" variant="light" title={t`Cannot be undone`}>
          {irreversible}
        </Alert>
      )}
      {rest.length > 0 && <ValueView label={t`Preview`} value={Object.fromEntries(rest)} />}
    </>
  );
}

/** Parts of previews that have their own place, or say nothing to people. */
const SHOWN_APART = new Set([
  'counts',
  'cells',
  'leftovers',
  'warnings',
  'columns',
  'rows',
  'base',
  'operation',
  'target',
  'rows_before',
]);

function isNothing(value: unknown): boolean {
  return value === null || (Array.isArray(value) && value.length === 0);
}

const LEVELS: Record<string, string> = {
  'built-in': t`built in`,
  organisation: t`organisation`,
  project: t`project`,
  playbook: t`playbook`,
};

export function RuleList({ rules }: { rules: Rule[] }) {
  if (rules.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {t`No rule allows it.`}
      </Text>
    );
  }
  return (
    <ul className={classes.rules}>
      {rules.map(({ level, id, effect, reason }) => (
        <li key={`${level}/${id}`}>
          <code>{id}</code>{' '}
          <Text span size="xs" c="dimmed">
            {LEVELS[level] ?? level}
            {effect === 'forbid' ? t`, forbids` : ''}
          </Text>
          {reason !== null && <div>{reason}</div>}
        </li>
      ))}
    </ul>
  );
}

const HASH = /@([0-9a-f]{12})[0-9a-f]{52}$/;

/** What enforcement found out about a value, which is no place. */
const FINDINGS: Record<string, string> = {
  model: t`a model's own words`,
  form: t`a form that was given`,
  elsewhere: t`what was read besides`,
  address: t`a text with an address that nobody named`,
};

const ORIGINS: Record<string, string> = {
  from: t`step`,
  step: t`step`,
  dataset: t`dataset`,
  file: t`file`,
  run: t`run`,
  tool: t`tool`,
};

/** `dataset:orders@<hash>` as people say it; the whole of a hash tells them nothing. */
function sourceText(source: string): string {
  const found = FINDINGS[source];
  if (found !== undefined) return found;
  return source
    .replace(HASH, (_, version: string) => t` at ${version}`)
    .replace(/^([a-z]+):/, (known, kind: string) =>
      kind in ORIGINS ? `${ORIGINS[kind] ?? kind} ` : known,
    );
}

/** What is doubtful about a call, for whoever decides or looks at it afterwards. */
export function DoubtList({ doubts }: { doubts: string[] }) {
  return (
    <ul className={classes.rules} aria-label={t`What is doubtful`}>
      {doubts.map((doubt) => (
        <li key={doubt}>{doubt}</li>
      ))}
    </ul>
  );
}

/** Where the values of a call come from; what people outside wrote is marked. */
export function ProvenanceView({ provenance }: { provenance: Provenance }) {
  const { trusted, sources, arguments: byArgument } = provenance;
  const foreign = Object.entries(byArgument).filter(([, label]) => !label.trusted);
  return (
    <div className={classes.provenance}>
      {trusted ? (
        <Chip icon={ShieldCheck} tone="good" word={t`Only trusted content`} />
      ) : (
        <Chip icon={TriangleAlert} tone="bad" word={t`Carries untrusted content`} />
      )}
      {!trusted && (
        <Text size="sm">
          {foreign.length > 0
            ? t`These arguments follow from content that people outside wrote. Read them closely.`
            : t`The run has read content that people outside wrote before it made this call.`}
        </Text>
      )}
      {foreign.length > 0 && (
        <ul className={classes.rules}>
          {foreign.map(([name, label]) => (
            <li key={name} data-foreign>
              <Trans>
                <code>{name}</code> from{' '}
                {label.sources.map(sourceText).join(', ') || t`an unknown place`}
              </Trans>
            </li>
          ))}
        </ul>
      )}
      {sources.length > 0 && (
        <Text size="xs" c="dimmed" title={sources.join(', ')}>
          {t`Sources: ${sources.map(sourceText).join(', ')}`}
        </Text>
      )}
    </div>
  );
}
