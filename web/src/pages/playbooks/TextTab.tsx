/** The playbook as YAML: read by everybody who sees it, changed by editors, checked while they write. */
import { t } from '@lingui/core/macro';
import { Anchor, Button, Group, Stack, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type SubmitEvent, useState } from 'react';
import { ApiError } from '@/api/errors';
import { type PlaybookDetail, useSavePlaybook } from '@/api/playbooks';
import { projectPath, useProject } from '@/app/project';
import { FormError } from '@/components/FormError';
import { showDone } from '@/components/undo';
import { useDraft } from './drafts';
import { PlaybookField, usePlaybookCheck } from './PlaybookField';

export default function TextTab({ playbook }: { playbook: PlaybookDetail }) {
  const project = useProject();
  const save = useSavePlaybook(project.id);
  const [draft, setDraft] = useDraft(playbook.id);
  const [message, setMessage] = useState('');
  const yaml = draft ?? playbook.source;
  const check = usePlaybookCheck(yaml);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    save.mutate(
      { playbook, yaml, message: message.trim() },
      {
        onSuccess: (saved) => {
          setDraft(null);
          setMessage('');
          showDone(
            saved.head === playbook.head
              ? t`Nothing differs from the newest revision`
              : t`Saved as revision ${saved.head}`,
          );
        },
      },
    );
  };
  const said = save.error instanceof ApiError ? new Error(save.error.detail) : save.error;
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <Anchor component={Link} to={projectPath(project.id, 'flows', playbook.id)} size="sm">
          {t`Open on the canvas`}
        </Anchor>
        <PlaybookField
          value={yaml}
          onChange={setDraft}
          check={check}
          readOnly={!playbook.may_edit}
        />
        {playbook.may_edit && (
          <>
            <TextInput
              label={t`What is new`}
              description={t`Said beside the revision, for whoever reads the versions.`}
              value={message}
              maxLength={400}
              onChange={({ currentTarget }) => setMessage(currentTarget.value)}
            />
            <FormError error={said} />
            <Group>
              <Button
                type="submit"
                disabled={draft === null || check.check?.valid !== true || check.isChecking}
                loading={save.isPending}
              >
                {t`Save a revision`}
              </Button>
              {draft !== null && (
                <Button variant="default" onClick={() => setDraft(null)}>
                  {t`Start over`}
                </Button>
              )}
            </Group>
          </>
        )}
      </Stack>
    </form>
  );
}
