/** The person's own API tokens in the project. */
import { t } from '@lingui/core/macro';
import { Button, Switch } from '@mantine/core';
import { Plus } from 'lucide-react';
import { useProject } from '@/app/project';
import { Page } from '@/components/Page';
import { useDialog, useSearchParam } from '@/components/use-search-param';
import { CreateTokenDialog } from './CreateTokenDialog';
import { ProgramTable } from './ProgramTable';
import { TokenTable } from './TokenTable';

export default function TokensPage() {
  const project = useProject();
  const dialog = useDialog('create');
  const [show, setShow] = useSearchParam('show');
  return (
    <Page
      title={t`API tokens`}
      description={t`Scripts and other programs act in your name with a token. A token can never do more than your own role allows.`}
      actions={
        <Button leftSection={<Plus size={14} aria-hidden />} onClick={dialog.open}>
          {t`Create token`}
        </Button>
      }
    >
      <div>
        <Switch
          label={t`Show revoked and expired`}
          size="xs"
          mb="sm"
          checked={show === 'all'}
          onChange={(event) => setShow(event.currentTarget.checked ? 'all' : null)}
        />
        <TokenTable projectId={project.id} showAll={show === 'all'} onCreate={dialog.open} />
      </div>
      <ProgramTable projectId={project.id} />
      <CreateTokenDialog project={project} opened={dialog.opened} onClose={dialog.close} />
    </Page>
  );
}
