/** Cleaning: what Steward suggests, and every other operation by hand. Each is previewed first. */
import { t } from '@lingui/core/macro';
import { Badge, Button, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Sparkles } from 'lucide-react';
import { useState } from 'react';
import { type ChangeRequest, operationsQuery } from '@/api/changes';
import type { Dataset } from '@/api/data-types';
import { suggestionsOf } from '@/api/insights';
import { useInsight } from '@/api/long-work';
import { useMay, useProject } from '@/app/project';
import { ChangeDialog, NewText, OldText } from '@/components/ChangePreview';
import { EmptyState } from '@/components/EmptyState';
import { useFormats } from '@/components/format';
import { InsightState } from '@/components/InsightState';
import { operationName } from '@/components/operation-name';
import { Section } from '@/components/Section';
import { useSearchParam } from '@/components/use-search-param';
import classes from './clean.module.css';
import { OperationForm } from './OperationForm';

interface Suggestion {
  operation: string;
  arguments: Record<string, unknown>;
  columns: string[];
  reason: string;
  changed: number;
  unconverted: number;
  examples: { row: number; column: string | null; old: string | null; new: string | null }[];
}

const EXAMPLES_SHOWN = 3;

export default function CleanTab({ dataset }: { dataset: Dataset }) {
  const project = useProject();
  const mayChange = useMay('editor');
  const operations = useQuery(operationsQuery(project.id));
  const [change, setChange] = useState<ChangeRequest | null>(null);
  const [chosen] = useSearchParam('operation');
  const known = operations.data?.items ?? [];
  const titleOf = (name: string) =>
    known.find((operation) => operation.name === name)?.title ?? operationName(name);
  return (
    <div className={classes.columns} data-chosen={chosen !== null}>
      <Section
        title={t`Suggestions`}
        description={t`Found by looking at every value. Nothing changes before you have seen it, and everything can be undone.`}
      >
        <Suggestions
          dataset={dataset}
          titleOf={titleOf}
          onPreview={mayChange ? setChange : undefined}
        />
      </Section>
      {mayChange && (
        <Section title={t`Any operation`} framed>
          <OperationForm
            key={dataset.name}
            dataset={dataset}
            operations={known}
            onPreview={setChange}
          />
        </Section>
      )}
      <ChangeDialog
        projectId={project.id}
        change={change}
        title={change ? titleOf(change.operation) : ''}
        onClose={() => setChange(null)}
      />
    </div>
  );
}

interface SuggestionsProps {
  dataset: Dataset;
  titleOf: (operation: string) => string;
  /** Unset for those who may look only. */
  onPreview: ((change: ChangeRequest) => void) | undefined;
}

function Suggestions({ dataset, titleOf, onPreview }: SuggestionsProps) {
  const project = useProject();
  const insight = useInsight<{ items: Suggestion[] }>(
    project.id,
    ['suggestions', dataset.name, dataset.version],
    suggestionsOf(project.id, dataset.name),
  );
  return (
    <InsightState insight={insight}>
      {({ items }) =>
        items.length === 0 ? (
          <EmptyState icon={Sparkles} title={t`Nothing to clean up`}>
            {t`No damaged texts, stray spaces, mixed spellings, dates or numbers kept as text were found.`}
          </EmptyState>
        ) : (
          <ul className={classes.list}>
            {items.map((suggestion, index) => (
              <SuggestionItem
                key={index}
                suggestion={suggestion}
                title={titleOf(suggestion.operation)}
                onPreview={
                  onPreview &&
                  (() =>
                    onPreview({
                      operation: suggestion.operation,
                      datasets: [dataset.name],
                      arguments: suggestion.arguments,
                    }))
                }
              />
            ))}
          </ul>
        )
      }
    </InsightState>
  );
}

interface ItemProps {
  suggestion: Suggestion;
  title: string;
  onPreview: (() => void) | undefined;
}

function SuggestionItem({ suggestion, title, onPreview }: ItemProps) {
  const formats = useFormats();
  const { columns, reason, changed, unconverted, examples } = suggestion;
  return (
    <li className={classes.item}>
      <Group justify="space-between" gap="xs" wrap="nowrap" align="flex-start">
        <div>
          <Group gap={8}>
            <Text size="sm" fw={600}>
              {title}
            </Text>
            <Badge size="sm" variant="light">
              {t`${formats.number(changed)} cells`}
            </Badge>
            {unconverted > 0 && (
              <Badge size="sm" variant="default">
                {t`${formats.number(unconverted)} left over`}
              </Badge>
            )}
          </Group>
          <Text size="sm" c="dimmed">
            {reason} {columns.join(', ')}
          </Text>
        </div>
        {onPreview && (
          <Button
            variant="default"
            size="compact-sm"
            flex="none"
            aria-label={t`Preview: ${title}, ${columns.join(', ')}`}
            onClick={onPreview}
          >
            {t`Preview`}
          </Button>
        )}
      </Group>
      {examples.length > 0 && (
        <ul className={classes.examples}>
          {examples.slice(0, EXAMPLES_SHOWN).map((example, index) => (
            <li key={index}>
              <OldText value={example.old} /> <span aria-hidden>→</span>{' '}
              <NewText value={example.new} />
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}
