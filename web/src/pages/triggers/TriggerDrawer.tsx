/** One trigger: its addresses or moments, why it fails, and its events. */
import { t } from '@lingui/core/macro';
import { Alert, Anchor, Button, Drawer, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CircleAlert, VolumeX } from 'lucide-react';
import { useRenewAddress, type WatchedTrigger, watchedTriggerQuery } from '@/api/triggers';
import { projectPath, useMay, useProject } from '@/app/project';
import { CopyField } from '@/components/CopyField';
import { ErrorState } from '@/components/ErrorState';
import { useFormats } from '@/components/format';
import { LoadingLines } from '@/components/LoadingLines';
import { Section } from '@/components/Section';
import { showDone, showFailure } from '@/components/undo';
import { EventList } from './EventList';
import { MISSED_WORDS } from './states';

interface Props {
  triggerId: string | null;
  onClose: () => void;
}

export function TriggerDrawer({ triggerId, onClose }: Props) {
  return (
    <Drawer
      opened={triggerId !== null}
      onClose={onClose}
      position="right"
      size="52rem"
      title={t`Trigger`}
      closeButtonProps={{ 'aria-label': t`Close` }}
    >
      {triggerId !== null && <TriggerDetail triggerId={triggerId} />}
    </Drawer>
  );
}

function TriggerDetail({ triggerId }: { triggerId: string }) {
  const project = useProject();
  const query = useQuery(watchedTriggerQuery(project.id, triggerId));
  if (query.isError && !query.data) {
    return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  }
  if (!query.data) return <LoadingLines />;
  const trigger = query.data;
  return (
    <Stack gap="lg">
      <div>
        <Text fw={600} size="lg">
          {trigger.playbook_name}: {trigger.name}
        </Text>
        <Text size="sm" c="dimmed">
          {t`${trigger.type}, starts revision ${trigger.revision}`}
        </Text>
        <Anchor
          component={Link}
          to={projectPath(project.id, `playbooks/${trigger.playbook_id}`)}
          size="sm"
        >
          {t`Open the playbook`}
        </Anchor>
      </div>
      <Troubles trigger={trigger} />
      <Moments trigger={trigger} />
      <Addresses trigger={trigger} />
      <EventList trigger={trigger} />
    </Stack>
  );
}

function Troubles({ trigger }: { trigger: WatchedTrigger }) {
  const formats = useFormats();
  return (
    <>
      {trigger.failing_since !== null && (
        <Alert
          color="red"
          icon={<CircleAlert size={16} aria-hidden />}
          title={t`Failing since ${formats.dateTime(trigger.failing_since)}`}
        >
          {trigger.failing_why}
          {trigger.next_at !== null && t` Next try: ${formats.dateTime(trigger.next_at)}.`}
        </Alert>
      )}
      {trigger.silent_since !== null && (
        <Alert
          color="yellow"
          icon={<VolumeX size={16} aria-hidden />}
          title={t`No event since ${formats.dateTime(trigger.silent_since)}`}
        >
          {t`Events usually come more often. Check whether the sender still works.`}
        </Alert>
      )}
    </>
  );
}

function Moments({ trigger }: { trigger: WatchedTrigger }) {
  const formats = useFormats();
  const { cron, time_zone, missed } = trigger.details as Record<string, string | undefined>;
  if (trigger.next_moments.length === 0) return null;
  return (
    <Section title={t`When`}>
      <Text size="sm">
        {cron !== undefined && <code>{cron}</code>} {time_zone}
        {missed !== undefined && `. ${MISSED_WORDS[missed] ?? missed}.`}
      </Text>
      <Text size="sm" c="dimmed">
        {t`Next: ${trigger.next_moments.map((moment) => formats.dateTime(moment)).join(', ')}`}
      </Text>
    </Section>
  );
}

function Addresses({ trigger }: { trigger: WatchedTrigger }) {
  const project = useProject();
  const mayChange = useMay('editor');
  const renew = useRenewAddress(project.id);
  if (trigger.form_link !== null) {
    return (
      <Section
        title={t`Link to the form`}
        description={t`Anyone with this link can fill in the form, without an account.`}
      >
        <CopyField label={t`Link`} value={trigger.form_link} />
      </Section>
    );
  }
  if (trigger.addresses === null) return null;
  const { signature, secret } = trigger.details as Record<string, string | null>;
  return (
    <Section
      title={t`Addresses`}
      description={
        signature === 'none'
          ? t`Anyone who knows an address can send to it. Keep it secret.`
          : t`Messages must be signed (${signature ?? t`standard`}) with the secret “${secret ?? ''}”.`
      }
    >
      <Stack gap="sm">
        <CopyField
          label={t`Stable: moves along with each deployment`}
          value={trigger.addresses.stable}
        />
        <CopyField
          label={t`Only revision ${trigger.revision}`}
          value={trigger.addresses.revision}
        />
        <CopyField
          label={t`Test: stores the event and starts nothing`}
          value={trigger.addresses.test}
        />
        {mayChange && (
          <div>
            <Button
              variant="default"
              size="xs"
              loading={renew.isPending}
              onClick={() =>
                renew.mutate(trigger.id, {
                  onSuccess: () => showDone(t`New addresses; the old ones no longer work`),
                  onError: showFailure,
                })
              }
            >
              {t`Replace these addresses`}
            </Button>
          </div>
        )}
      </Stack>
    </Section>
  );
}
