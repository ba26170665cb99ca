/** Who belongs to the project and who has been invited. */
import { t } from '@lingui/core/macro';
import { Button } from '@mantine/core';
import { UserPlus } from 'lucide-react';
import { useState } from 'react';
import type { Role } from '@/api/types';
import { useMay, useProject } from '@/app/project';
import { Page } from '@/components/Page';
import { useDialog, useSearchParam } from '@/components/use-search-param';
import { InvitationList } from './InvitationList';
import { InviteDialog } from './InviteDialog';
import { MemberTable } from './MemberTable';

/** What the dialog starts with, as when a revoked invitation is made again. */
export interface InvitationDraft {
  role: Role;
  email: string;
  /** The id of a playbook to share; empty for none. */
  playbook: string;
}

const NO_DRAFT: InvitationDraft = { role: 'editor', email: '', playbook: '' };

export default function MembersPage() {
  const project = useProject();
  const mayManage = useMay('admin');
  const dialog = useDialog('invite');
  const [playbook] = useSearchParam('playbook');
  const [draft, setDraft] = useState<InvitationDraft>(
    playbook === null ? NO_DRAFT : { ...NO_DRAFT, role: 'runner', playbook },
  );
  const invite = (from: InvitationDraft = NO_DRAFT) => {
    setDraft(from);
    dialog.open();
  };
  return (
    <Page
      title={t`Members`}
      description={t`A role in the organisation counts in all of its projects; a role given here counts in this one.`}
      actions={
        mayManage && (
          <Button leftSection={<UserPlus size={14} aria-hidden />} onClick={() => invite()}>
            {t`Invite`}
          </Button>
        )
      }
    >
      <MemberTable project={project} />
      {mayManage && <InvitationList projectId={project.id} onInviteAgain={invite} />}
      {mayManage && (
        <InviteDialog
          project={project}
          draft={draft}
          opened={dialog.opened}
          onClose={dialog.close}
        />
      )}
    </Page>
  );
}
