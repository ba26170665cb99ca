/** What a change would do, counted and shown, before it is applied. */
import { t } from '@lingui/core/macro';
import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import { type ChangeRequest, previewQuery, useApplyChange } from '@/api/changes';
import type { CellChange, ChangePreview as Preview } from '@/api/data-types';
import type { Work } from '@/flows/guide';
import { RepeatButton } from '@/pages/flows/RepeatButton';
import { CellTable } from './CellTable';
import classes from './ChangePreview.module.css';
import { CellText } from './CellText';
import { undoData } from './data-undo';
import { ErrorState } from './ErrorState';
import { FormError } from './FormError';
import { useFormats } from './format';
import { ShownOf } from './ShownOf';
import { WorkProgress } from './WorkProgress';
import { offerUndo } from './undo';

interface Props {
  projectId: string;
  /** What to preview; the dialog is closed without. */
  change: ChangeRequest | null;
  title: string;
  onClose: () => void;
  onApplied?: (target: string) => void;
}

export function ChangeDialog({ projectId, change, title, onClose, onApplied }: Props) {
  return (
    <Modal opened={change !== null} onClose={onClose} title={title} size="54rem">
      {change && (
        <PreviewOrReason
          projectId={projectId}
          change={change}
          title={title}
          onClose={onClose}
          onApplied={(target) => {
            onClose();
            onApplied?.(target);
          }}
        />
      )}
    </Modal>
  );
}

interface InnerProps {
  projectId: string;
  change: ChangeRequest;
  title: string;
  onClose: () => void;
  onApplied: (target: string) => void;
}

function PreviewOrReason({ projectId, change, title, onClose, onApplied }: InnerProps) {
  const query = useQuery(previewQuery(projectId, change));
  const apply = useApplyChange(projectId);
  if (query.isError) {
    return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  }
  if (query.isPending) {
    return <WorkProgress doing={t`Working out what would change`} done={0} total={null} />;
  }
  const { base, target } = query.data;
  const run = () =>
    apply.mutate(
      { ...change, base },
      {
        onSuccess: ({ commit }) => {
          offerUndo({ message: commit.message, undo: () => undoData(projectId, commit.id) });
          onApplied(target);
        },
      },
    );
  return (
    <Stack>
      <PreviewFacts preview={query.data} />
      <FormError error={apply.error} />
      <Group justify="flex-end" gap="xs">
        <RepeatButton
          size="sm"
          name={`${title}: ${change.datasets.join(', ')}`}
          work={repeatedChange(change, title)}
        />
        <Button variant="default" onClick={onClose}>
          {t`Cancel`}
        </Button>
        <Button onClick={run} loading={apply.isPending} data-autofocus>
          {t`Apply`}
        </Button>
      </Group>
    </Stack>
  );
}

/** Operations on one dataset are calls of `clean`; those that put several together are tools of their own. */
function repeatedChange(
  { operation, datasets, target, ...change }: ChangeRequest,
  title: string,
): Work {
  const [dataset, ...others] = datasets;
  const named = target === undefined ? {} : { target };
  const step =
    others.length === 0
      ? { tool: 'clean', arguments: { dataset, operation, arguments: change.arguments, ...named } }
      : { tool: operation, arguments: { datasets, ...change.arguments, ...named } };
  return { steps: [{ title, ...step }] };
}

export function PreviewFacts({ preview }: { preview: Preview }) {
  const formats = useFormats();
  const { summary, counts, warnings, cells, leftovers } = preview;
  const shown = Object.entries(counts).filter(([, count]) => count > 0);
  return (
    <Stack>
      {summary !== '' && (
        <Text size="sm" role="status">
          {summary}
        </Text>
      )}
      {shown.length > 0 && (
        <dl className={classes.counts}>
          {shown.map(([name, count]) => (
            <div key={name}>
              <dt>{name.replaceAll('_', ' ')}</dt>
              <dd>{formats.number(count)}</dd>
            </div>
          ))}
        </dl>
      )}
      {warnings.length > 0 && (
        <Alert color="yellow" variant="light" icon={<TriangleAlert size={16} aria-hidden />}>
          {warnings.map((warning) => (
            <div key={warning}>{warning}</div>
          ))}
        </Alert>
      )}
      {cells.length > 0 && <Cells title={t`Changed cells`} cells={cells} />}
      {leftovers.length > 0 && <Cells title={t`Left as they are`} cells={leftovers} isLeft />}
      {cells.length === 0 && preview.preview.rows.length > 0 && <FirstRows preview={preview} />}
    </Stack>
  );
}

interface CellsProps {
  title: string;
  cells: CellChange[];
  isLeft?: boolean;
}

function Cells({ title, cells, isLeft = false }: CellsProps) {
  const formats = useFormats();
  return (
    <div>
      <Text size="sm" fw={600} mb={4}>
        {title}
      </Text>
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls */}
      <div className={classes.scroller} role="group" aria-label={title} tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t`Row`}</th>
              <th scope="col">{t`Column`}</th>
              <th scope="col">{isLeft ? t`Value` : t`Now`}</th>
              {!isLeft && <th scope="col">{t`Will be`}</th>}
            </tr>
          </thead>
          <tbody>
            {cells.map((cell, index) => (
              <tr key={index}>
                <td className="tabular">{formats.number(cell.row)}</td>
                <td>{cell.column ?? <i>{t`whole row removed`}</i>}</td>
                <td>{isLeft ? <CellText value={cell.old} /> : <OldText value={cell.old} />}</td>
                {!isLeft && <td>{cell.column !== null && <NewText value={cell.new} />}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

/** A value that goes, and the one that comes: told apart by line and weight as well as colour. */
export function OldText({ value }: { value: string | null }) {
  return (
    <del className={classes.old}>
      <CellText value={value} />
    </del>
  );
}

export function NewText({ value }: { value: string | null }) {
  return (
    <ins className={classes.new}>
      <CellText value={value} />
    </ins>
  );
}

function FirstRows({ preview: { preview } }: { preview: Preview }) {
  const [wantsAll, setWantsAll] = useState(false);
  const rows = wantsAll ? preview.rows : preview.rows.slice(0, 20);
  return (
    <div>
      <Text size="sm" fw={600} mb={4}>
        {t`First rows of the result`}
      </Text>
      <CellTable
        label={t`First rows`}
        columns={preview.columns.map(({ name }) => name)}
        rows={rows}
      />
      <ShownOf
        shown={rows.length}
        all={preview.rows.length}
        of={t`previewed rows`}
        onShowAll={() => setWantsAll(true)}
      />
    </div>
  );
}
