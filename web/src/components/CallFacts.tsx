/** What is to be known about a call: what it would do, why it was decided so, and where its values come from. */
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
        <Alert color="red" variant="light" title="Cannot be undone">
          {irreversible}
        </Alert>
      )}
      {rest.length > 0 && <ValueView label="Preview" value={Object.fromEntries(rest)} />}
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
  'built-in': 'built in',
  organisation: 'organisation',
  project: 'project',
  playbook: 'playbook',
};

export function RuleList({ rules }: { rules: Rule[] }) {
  if (rules.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        No rule allows it.
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
            {effect === 'forbid' ? ', forbids' : ''}
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
  model: "a model's own words",
  form: 'a form that was given',
  elsewhere: 'what was read besides',
  address: 'a text with an address that nobody named',
};

/** `dataset:orders@<hash>` as people say it; the whole of a hash tells them nothing. */
function sourceText(source: string): string {
  const found = FINDINGS[source];
  if (found !== undefined) return found;
  return source
    .replace(HASH, ' at $1')
    .replace(/^(?:from|step):/, 'step ')
    .replace(/^(dataset|file|run|tool):/, '$1 ');
}

/** What is doubtful about a call, for whoever decides or looks at it afterwards. */
export function DoubtList({ doubts }: { doubts: string[] }) {
  return (
    <ul className={classes.rules} aria-label="What is doubtful">
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
        <Chip icon={ShieldCheck} tone="good" word="Only trusted content" />
      ) : (
        <Chip icon={TriangleAlert} tone="bad" word="Carries untrusted content" />
      )}
      {!trusted && (
        <Text size="sm">
          {foreign.length > 0
            ? 'These arguments follow from content that people outside wrote. Read them closely.'
            : 'The run has read content that people outside wrote before it made this call.'}
        </Text>
      )}
      {foreign.length > 0 && (
        <ul className={classes.rules}>
          {foreign.map(([name, label]) => (
            <li key={name} data-foreign>
              <code>{name}</code> from{' '}
              {label.sources.map(sourceText).join(', ') || 'an unknown place'}
            </li>
          ))}
        </ul>
      )}
      {sources.length > 0 && (
        <Text size="xs" c="dimmed" title={sources.join(', ')}>
          Sources: {sources.map(sourceText).join(', ')}
        </Text>
      )}
    </div>
  );
}
