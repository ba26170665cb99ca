/** From datasets to golden records: rules are proposed, judged, tried out and only then applied. */
import { t } from '@lingui/core/macro';
import { Alert, Button, Group, MultiSelect, Stack } from '@mantine/core';
import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Combine } from 'lucide-react';
import { datasetsQuery } from '@/api/datasets';
import { itemsOf } from '@/api/lists';
import { type Proposal as Proposed, proposeRules } from '@/api/resolve';
import { projectPath, useProject } from '@/app/project';
import { useDataUndoKeys } from '@/components/data-undo';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { Page } from '@/components/Page';
import { Section } from '@/components/Section';
import { WorkProgress } from '@/components/WorkProgress';
import { Proposal } from './Proposal';
import { RulesError } from './RulesError';
import { useWork } from '@/api/long-work';
import { useTrial } from './use-trial';

const MOST_DATASETS = 10;

export default function ResolvePage() {
  const project = useProject();
  useDataUndoKeys(project.id, true);
  const way = useTrial(project.id);
  const { steps, go } = way;
  const known = useInfiniteQuery(datasetsQuery(project.id));
  const proposal = useWork<Proposed>(project.id, steps.proposal);
  const propose = useMutation({
    mutationFn: () => proposeRules(project.id, steps.datasets),
    onSuccess: ({ id }) => go({ proposal: id }),
  });
  const restart = () => go({ proposal: null });
  return (
    <Page
      title={t`Match records`}
      width="full"
      description={t`Finds the rows that mean the same person, company or thing, within a dataset or across several, and makes one golden record of each. The sources stay as they are.`}
    >
      <Section title={t`Datasets`} framed>
        <Choice
          chosen={steps.datasets}
          isBusy={propose.isPending || proposal.running !== null}
          onChange={(datasets) => go({ datasets, proposal: null })}
          onPropose={() => propose.mutate()}
        />
        <RulesError error={propose.error} />
      </Section>
      {proposal.running && <WorkProgress {...proposal.running} onCancel={proposal.cancel} />}
      {proposal.error !== null && (
        <ErrorState
          error={proposal.error}
          action={
            <Button variant="default" onClick={restart}>
              {t`Start again`}
            </Button>
          }
        />
      )}
      {proposal.result && <Proposal key={steps.proposal} found={proposal.result} way={way} />}
      {steps.proposal === null && itemsOf(known.data).length > 0 && (
        <EmptyState icon={Combine} picture="flow" title={t`No rules yet`}>
          {t`Steward looks at the columns, compares records and proposes rules. You read them, change them and see what they would do before anything is kept.`}
        </EmptyState>
      )}
    </Page>
  );
}

interface ChoiceProps {
  chosen: string[];
  isBusy: boolean;
  onChange: (names: string[]) => void;
  onPropose: () => void;
}

function Choice({ chosen, isBusy, onChange, onPropose }: ChoiceProps) {
  const project = useProject();
  const query = useInfiniteQuery(datasetsQuery(project.id));
  const names = itemsOf(query.data).map(({ name }) => name);
  const gone = query.isSuccess ? chosen.filter((name) => !names.includes(name)) : [];
  if (query.isError) return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  if (query.isSuccess && names.length === 0) {
    return (
      <EmptyState
        icon={Combine}
        title={t`No datasets yet`}
        action={
          <Button component={Link} to={projectPath(project.id, 'datasets')} variant="default">
            {t`Go to datasets`}
          </Button>
        }
      >
        {t`Load a file with customers, suppliers or products, and its duplicates can be found.`}
      </EmptyState>
    );
  }
  return (
    <Stack gap="sm" aria-busy={query.isPending}>
      <Group align="flex-end" gap="sm">
        <MultiSelect
          label={t`Which records are compared`}
          description={t`One dataset finds its duplicates; several are linked as well.`}
          placeholder={chosen.length === 0 ? t`Choose datasets` : ''}
          data={names}
          value={chosen.filter((name) => names.includes(name))}
          maxValues={MOST_DATASETS}
          searchable
          hidePickedOptions
          disabled={isBusy}
          flex="1 1 20rem"
          maw="44rem"
          onChange={onChange}
        />
        <Button
          disabled={chosen.length === 0 || gone.length > 0}
          loading={isBusy}
          onClick={onPropose}
        >
          {t`Propose rules`}
        </Button>
      </Group>
      {gone.length > 0 && (
        <Alert color="yellow" variant="light">
          {t`${gone.join(', ')} cannot be found any more. Choose again.`}
        </Alert>
      )}
    </Stack>
  );
}
