/** Links that still work, each with its end. */
import { t } from '@lingui/core/macro';
import { Button, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link2 } from 'lucide-react';
import { linksQuery, sendingPage, useRevokeLink } from '@/api/links';
import type { FileLink } from '@/api/types';
import { type Column, DataTable } from '@/components/DataTable';
import { EmptyState } from '@/components/EmptyState';
import { useFormats } from '@/components/format';
import { RelativeTime } from '@/components/Moment';
import { showDone, showFailure } from '@/components/undo';
import { useCopy } from '@/components/use-copy';

export function LinkTable({ projectId }: { projectId: string }) {
  const query = useInfiniteQuery(linksQuery(projectId));
  const revoke = useRevokeLink(projectId);
  const formats = useFormats();
  const columns: Column<FileLink>[] = [
    {
      id: 'name',
      header: t`Link`,
      cell: (link) => (
        <div>
          <Text size="sm" fw={500}>
            {link.kind === 'download' ? link.name : t`File for ${link.name}`}
          </Text>
          <Text size="xs" c="dimmed">
            {link.kind === 'download'
              ? t`Download by ${link.made_by}`
              : t`Upload of up to ${formats.bytes(link.bytes)} by ${link.made_by}`}
            {link.single_use && t`, once`}
          </Text>
        </div>
      ),
    },
    {
      id: 'uses',
      header: t`Uses`,
      align: 'end',
      width: '5rem',
      hideBelow: 'sm',
      cell: ({ uses }) => <span className="tabular">{uses}</span>,
    },
    {
      id: 'expires',
      header: t`Ends`,
      width: '9rem',
      hideBelow: 'sm',
      cell: ({ expires_at }) => <RelativeTime value={expires_at} />,
    },
    {
      id: 'copy',
      header: t`Copy`,
      quietHeader: true,
      align: 'end',
      width: '5rem',
      cell: (link) => <CopyLink link={link} />,
    },
    {
      id: 'revoke',
      header: t`Revoke`,
      quietHeader: true,
      align: 'end',
      width: '6rem',
      cell: (link) => (
        <Button
          variant="subtle"
          color="gray"
          size="compact-sm"
          aria-label={t`Revoke the link for ${link.name}`}
          onClick={() =>
            revoke.mutate(link.id, {
              onSuccess: () => showDone(t`Link revoked`),
              onError: showFailure,
            })
          }
        >
          {t`Revoke`}
        </Button>
      ),
    },
  ];
  return (
    <DataTable
      label={t`Links`}
      columns={columns}
      query={query}
      rowKey={({ id }) => id}
      empty={
        <EmptyState icon={Link2} title={t`No links`}>
          {t`Make one with “Copy download link” beside a file, or with “Let someone upload a file” under Datasets.`}
        </EmptyState>
      }
    />
  );
}

/** Only the person who made a link can copy it again. */
function CopyLink({ link }: { link: FileLink }) {
  const { copied, copy } = useCopy();
  if (link.address === null) return null;
  const address = link.kind === 'upload' ? sendingPage(link.address) : link.address;
  return (
    <Button
      variant="subtle"
      color="gray"
      size="compact-sm"
      aria-label={t`Copy the link for ${link.name}`}
      onClick={() => void copy(address)}
    >
      {copied ? t`Copied` : t`Copy`}
    </Button>
  );
}
