/** Two versions side by side: both drawn, with what was added, removed, changed or moved, and every field that differs. */
import { t } from '@lingui/core/macro';
import { Group, Select, Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import {
  type Comparison,
  comparisonQuery,
  type FieldChange,
  revisionQuery,
} from '@/api/deployments';
import type { FlowPalette } from '@/api/flows';
import type { PlaybookDetail, PlaybookRevision } from '@/api/playbooks';
import { useProject } from '@/app/project';
import { ErrorState } from '@/components/ErrorState';
import { useSearchParam } from '@/components/use-search-param';
import type { Language } from '@/flows/graph';
import { type Difference, differencesOf } from './differences';
import { PinChanges } from './Pins';
import { VersionCanvas } from './VersionCanvas';
import classes from './versions.module.css';

interface Props {
  playbook: PlaybookDetail;
  revisions: readonly PlaybookRevision[];
  language: Language;
  names: FlowPalette;
}

export function CompareTab({ playbook, revisions, language, names }: Props) {
  const newest = playbook.head;
  const [left, setLeft] = useSearchParam('left');
  const [right, setRight] = useSearchParam('right');
  const before = Number(left ?? defaultLeft(playbook));
  const after = Number(right ?? newest);
  const choices = revisions.map(({ number, message }) => ({
    value: String(number),
    label:
      number === playbook.deployed ? t`${number}. ${message} (deployed)` : `${number}. ${message}`,
  }));
  return (
    <>
      <Group mb="md">
        <Select
          label={t`Before`}
          w="18rem"
          maw="100%"
          data={choices}
          value={String(before)}
          allowDeselect={false}
          onChange={setLeft}
        />
        <Select
          label={t`After`}
          w="18rem"
          maw="100%"
          data={choices}
          value={String(after)}
          allowDeselect={false}
          onChange={setRight}
        />
      </Group>
      {before === after ? (
        <Text size="sm" c="dimmed">
          {revisions.length > 1
            ? t`Choose two different versions.`
            : t`There is only one version. Save a change to compare it with this one.`}
        </Text>
      ) : (
        <Compared {...{ playbook, before, after, language, names }} />
      )}
    </>
  );
}

/** The deployed version where it is not the newest; otherwise the one before the newest. */
function defaultLeft({ deployed, head }: PlaybookDetail): number {
  if (deployed !== null && deployed !== head) return deployed;
  return Math.max(1, head - 1);
}

interface ComparedProps {
  playbook: PlaybookDetail;
  before: number;
  after: number;
  language: Language;
  names: FlowPalette;
}

function Compared({ playbook, before, after, language, names }: ComparedProps) {
  const project = useProject();
  const comparison = useQuery(comparisonQuery(project.id, playbook.id, before, after));
  const old = useQuery(revisionQuery(project.id, playbook.id, before));
  const now = useQuery(revisionQuery(project.id, playbook.id, after));
  const [chosen, setChosen] = useState<string | null>(null);
  const error = comparison.error ?? old.error ?? now.error;
  if (error) return <ErrorState error={error} retry={() => void comparison.refetch()} />;
  if (!comparison.data || !old.data || !now.data) return <Skeleton height={200} aria-busy />;
  const differences = differencesOf(comparison.data);
  return (
    <>
      <Summary comparison={comparison.data} />
      <div className={classes.sides}>
        {[
          { revision: old.data, marks: differences.left, title: t`Revision ${before}` },
          { revision: now.data, marks: differences.right, title: t`Revision ${after}` },
        ].map(({ revision, marks, title }) => (
          <section key={title} aria-label={title} className={classes.side}>
            <Text size="sm" fw={600} mb={4}>
              {title}
            </Text>
            <VersionCanvas
              revision={revision}
              marks={marks}
              language={language}
              names={names}
              chosen={chosen}
              onChoose={setChosen}
            />
          </section>
        ))}
      </div>
      <Changes differences={differences.all} chosen={chosen} onChoose={setChosen} />
      <Settings fields={comparison.data.settings} />
      <section aria-label={t`Pinned parts that differ`}>
        <Text size="sm" fw={600} mt="md">
          {t`Pinned parts`}
        </Text>
        <PinChanges
          changes={comparison.data.parts}
          none={t`Policies, models, code and all other pinned parts are the same.`}
        />
      </section>
    </>
  );
}

function Summary({ comparison }: { comparison: Comparison }) {
  const count = (state: string) => comparison.nodes.filter((node) => node.state === state).length;
  const parts = (['added', 'removed', 'changed', 'moved'] as const)
    .map((state) => [count(state), state] as const)
    .filter(([number]) => number > 0)
    .map(([number, state]) => `${number} ${state}`);
  const steps = parts.length > 0 ? t`Steps: ${parts.join(', ')}.` : t`All steps are the same.`;
  const settings =
    comparison.settings.length > 0 ? t` Settings: ${comparison.settings.length} changed.` : '';
  const placed =
    comparison.placed.length > 0
      ? t` ${comparison.placed.length} drawn elsewhere, which changes nothing about what runs.`
      : '';
  return (
    <Text size="sm" mb="sm" role="status">
      {steps}
      {settings}
      {placed}
    </Text>
  );
}

interface ChangesProps {
  differences: readonly Difference[];
  chosen: string | null;
  onChoose: (key: string) => void;
}

function Changes({ differences, chosen, onChoose }: ChangesProps) {
  if (differences.length === 0) return null;
  return (
    <section aria-label={t`Steps that differ`}>
      <ul className={classes.changes}>
        {differences.map((each) => (
          <li key={`${each.state} ${each.key}`} data-state={each.state}>
            <button
              type="button"
              className={classes.change}
              aria-pressed={chosen === each.key}
              onClick={() => onChoose(each.key)}
            >
              <b>{each.title}</b> <span className={classes.state}>{each.word}</span>
            </button>
            <Fields fields={each.fields} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Settings({ fields }: { fields: readonly FieldChange[] }) {
  if (fields.length === 0) return null;
  return (
    <section aria-label={t`Settings that differ`}>
      <Text size="sm" fw={600} mt="md">
        {t`Settings`}
      </Text>
      <Fields fields={fields} />
    </section>
  );
}

function Fields({ fields }: { fields: readonly FieldChange[] }) {
  if (fields.length === 0) return null;
  return (
    <dl className={classes.fields}>
      {fields.map(({ pointer, before, after, was_there, is_there }) => (
        <div key={pointer}>
          <dt>{pointer.slice(1).replaceAll('/', ' › ')}</dt>
          <dd>
            {was_there && <del>{shown(before)}</del>} {is_there && <ins>{shown(after)}</ins>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

const shown = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
