/** The cases of a report by their kind; what went wrong is open, what was seen can be opened. */
import { t } from '@lingui/core/macro';
import { Text } from '@mantine/core';
import { CircleCheck } from 'lucide-react';
import type { EvaluationCase } from '@/api/evaluations';
import { EmptyState } from '@/components/EmptyState';
import { JsonTree } from '@/components/JsonTree';
import { Section } from '@/components/Section';
import { byKind, kindInWords } from './kinds';
import { OutcomeChip } from './OutcomeChip';
import classes from './evaluations.module.css';

interface Props {
  cases: EvaluationCase[];
  failedOnly: boolean;
}

export function CaseGroups({ cases, failedOnly }: Props) {
  const shown = failedOnly ? cases.filter(({ outcome }) => outcome === 'failed') : cases;
  if (shown.length === 0) return <EmptyState icon={CircleCheck} title={t`No case failed`} />;
  return byKind(shown).map(([kind, group]) => (
    <Section key={kind} title={kindInWords(kind)} description={counted(group)} framed>
      <ul className={classes.cases}>
        {group.map((each) => (
          <CaseItem key={`${each.suite}/${each.id}`} found={each} />
        ))}
      </ul>
    </Section>
  ));
}

function counted(group: EvaluationCase[]): string {
  const passed = group.filter(({ outcome }) => outcome === 'passed').length;
  return t`${passed} of ${group.length} passed`;
}

function CaseItem({ found }: { found: EvaluationCase }) {
  const name = `${found.suite}/${found.id}`;
  return (
    <li id={name} className={classes.case}>
      <div className={classes.caseHead}>
        <OutcomeChip outcome={found.outcome} />
        <Text size="sm" fw={500} className={classes.caseTitle}>
          {found.title || name}
        </Text>
        <Text size="xs" c="dimmed" className="tabular">
          {found.title && `${name} · `}
          {found.seconds.toFixed(1)} s
        </Text>
      </div>
      {found.problems.length > 0 && (
        <ul className={classes.problems}>
          {found.problems.map((problem) => (
            <li key={problem}>{problem}</li>
          ))}
        </ul>
      )}
      {Object.keys(found.facts).length > 0 && (
        <details className={classes.facts}>
          <summary>{t`What was seen`}</summary>
          <JsonTree label={t`What was seen in ${name}`} value={found.facts} openTo={2} />
        </details>
      )}
    </li>
  );
}
