/** What someone without any project sees: how to get one. */
import { t } from '@lingui/core/macro';
import { Button } from '@mantine/core';
import { FolderPlus } from 'lucide-react';
import { EmptyState } from '@/components/EmptyState';
import { Page } from '@/components/Page';
import { useDialog } from '@/components/use-search-param';

export function NoProjects() {
  const dialog = useDialog('new-project');
  return (
    <Page title={t`Welcome to Steward`}>
      <EmptyState
        icon={FolderPlus}
        title={t`You have no projects yet`}
        action={
          <Button mt="xs" onClick={dialog.open}>
            {t`New project`}
          </Button>
        }
      >
        {t`Data, people and everything agents do belong to a project. Create one, or ask a colleague for an invitation link to theirs.`}
      </EmptyState>
    </Page>
  );
}
