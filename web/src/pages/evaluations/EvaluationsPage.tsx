/** The reports that the project keeps, newest first, and how its planner does. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Anchor, Button, Code, FileButton } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ClipboardCheck, FileUp } from 'lucide-react';
import {
  type Evaluation,
  evaluationsQuery,
  useDeleteEvaluation,
  useRestoreEvaluation,
} from '@/api/evaluations';
import { usePersonName } from '@/api/members';
import { projectPath, useMay, useProject } from '@/app/project';
import { type Column, DataTable } from '@/components/DataTable';
import { EmptyState } from '@/components/EmptyState';
import { RelativeTime } from '@/components/Moment';
import { Page } from '@/components/Page';
import { Section } from '@/components/Section';
import { offerUndo, showFailure } from '@/components/undo';
import { CountChip } from './OutcomeChip';
import { PlannerSection } from './PlannerSection';
import { useKeepFile } from './use-keep-file';

export default function EvaluationsPage() {
  const project = useProject();
  const mayEdit = useMay('editor');
  const query = useInfiniteQuery(evaluationsQuery(project.id));
  const keep = useKeepFile(project.id);
  const columns = useColumns(project.id, mayEdit);
  const actions = mayEdit && (
    <FileButton accept=".json,application/json" onChange={keep}>
      {(props) => (
        <Button variant="default" leftSection={<FileUp size={14} aria-hidden />} {...props}>
          {t`Keep a report`}
        </Button>
      )}
    </FileButton>
  );
  return (
    <Page
      title={t`Evaluations`}
      description={t`Test cases with the results you expect: plans, calls, answers, undo, merging, policy and defence.`}
      actions={actions}
    >
      <Section title={t`Reports`}>
        <DataTable
          label={t`Reports`}
          columns={columns}
          query={query}
          rowKey={({ id }) => id}
          empty={
            <EmptyState icon={ClipboardCheck} picture="chart" title={t`No reports yet`}>
              <Trans>
                Run <Code>steward eval --keep</Code> on the server, or <Code>steward eval</Code>{' '}
                with <Code>--report report.json</Code> anywhere and keep that file here.
              </Trans>
            </EmptyState>
          }
        />
      </Section>
      <PlannerSection />
    </Page>
  );
}

function useColumns(projectId: string, mayEdit: boolean): Column<Evaluation>[] {
  const nameOf = usePersonName(projectId);
  const remove = useRemove(projectId);
  const columns: Column<Evaluation>[] = [
    {
      id: 'title',
      header: t`Report`,
      cell: ({ id, title }) => (
        <Anchor component={Link} to={projectPath(projectId, 'evaluations', id)} size="sm" fw={500}>
          {title}
        </Anchor>
      ),
    },
    {
      id: 'outcome',
      header: t`Outcome`,
      width: '11rem',
      cell: ({ passed, failed, cases }) => (
        <CountChip passed={passed} failed={failed} cases={cases} />
      ),
    },
    {
      id: 'mode',
      header: t`Models`,
      width: '8rem',
      hideBelow: 'md',
      cell: ({ mode }) => (mode === 'online' ? t`Configured` : t`Scripted`),
    },
    {
      id: 'kept',
      header: t`Kept`,
      width: '14rem',
      hideBelow: 'sm',
      cell: ({ created_at, created_by }) => (
        <>
          <Trans>
            <RelativeTime value={created_at} /> by {nameOf(created_by) ?? t`somebody who left`}
          </Trans>
        </>
      ),
    },
  ];
  if (!mayEdit) return columns;
  const deleting: Column<Evaluation> = {
    id: 'delete',
    header: t`Delete`,
    quietHeader: true,
    align: 'end',
    width: '6rem',
    cell: (report) => (
      <Button variant="subtle" color="gray" size="compact-sm" onClick={() => remove(report)}>
        {t`Delete`}
      </Button>
    ),
  };
  return [...columns, deleting];
}

function useRemove(projectId: string) {
  const remove = useDeleteEvaluation(projectId);
  const restore = useRestoreEvaluation(projectId);
  return ({ id, title }: Evaluation) =>
    remove.mutate(id, {
      onSuccess: () =>
        offerUndo({
          message: t`${title} deleted`,
          undo: () => restore.mutateAsync(id),
          undone: t`${title} is back`,
        }),
      onError: showFailure,
    });
}
