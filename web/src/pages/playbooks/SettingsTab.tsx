/** Who may see a playbook, what a run of it may use, and how it is put away. */
import { t } from '@lingui/core/macro';
import { Anchor, Button, Group, Stack, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { Archive, ArchiveRestore, Download, Trash2 } from 'lucide-react';
import type { PlaybookDetail } from '@/api/playbooks';
import { projectPath, useProject } from '@/app/project';
import { useFormats } from '@/components/format';
import { Section } from '@/components/Section';
import { useSearchParam } from '@/components/use-search-param';
import { amountText } from '@/pages/run/RunState';
import { SharingForm } from './SharingForm';
import { withoutTab } from './use-opened';
import { usePutAway } from './use-put-away';

export default function SettingsTab({ playbook }: { playbook: PlaybookDetail }) {
  const project = useProject();
  return (
    <Stack gap="xl">
      {playbook.may_edit && (
        <Section
          title={t`Sharing`}
          description={t`Only these people and project admins can see it and its runs. Runners and operators can run it, editors can change it.`}
        >
          <SharingForm key={playbook.version} playbook={playbook} />
        </Section>
      )}
      <Limits playbook={playbook} />
      <Section title={t`As a file`} description={t`One YAML file that goes into Git and back.`}>
        <Group>
          <Button
            component="a"
            href={`/api/v1/projects/${project.id}/playbooks/${playbook.id}/yaml`}
            variant="default"
            leftSection={<Download size={14} aria-hidden />}
          >
            {t`Download ${playbook.slug}.yaml`}
          </Button>
        </Group>
      </Section>
      <PutAway playbook={playbook} />
    </Stack>
  );
}

const LIMITS: Record<string, string> = {
  usd: '',
  tokens: t` tokens`,
  seconds: t` of work time`,
  rows: t` rows`,
  bytes: t` of data`,
};

function Limits({ playbook }: { playbook: PlaybookDetail }) {
  const [, setTab] = useSearchParam('tab');
  const formats = useFormats();
  const { budget, approval } = playbook.document as {
    budget: Record<string, unknown>;
    approval?: { preset?: string; cedar?: string };
  };
  const limits = Object.entries(budget)
    .filter(([name]) => name in LIMITS)
    .map(([name, amount]) => `${amountText(name, String(amount), formats)}${LIMITS[name]}`);
  const policy =
    approval?.preset === undefined
      ? approval?.cedar === undefined
        ? null
        : t`its own rules`
      : t`the preset “${approval.preset}”`;
  return (
    <Section
      title={t`Budget and approvals`}
      description={t`Both stand in the text of the playbook, so that they are versioned with it.`}
    >
      <Text size="sm">{t`A run may use ${limits.join(t` and `)}.`}</Text>
      <Text size="sm">
        {policy === null
          ? t`The project's policy decides what must be approved.`
          : t`Besides the project's policy, ${policy} must allow each call.`}{' '}
        <Anchor component="button" type="button" inherit onClick={() => setTab('text')}>
          {t`Change the text`}
        </Anchor>
      </Text>
    </Section>
  );
}

/** Two steps: archived first, deleted then; both have a way back. */
function PutAway({ playbook }: { playbook: PlaybookDetail }) {
  const project = useProject();
  const navigate = useNavigate();
  const { archive, bringBack, remove, isArchiving, isDeleting } = usePutAway(project.id, playbook);
  const leave = () =>
    void navigate({ to: projectPath(project.id, 'playbooks'), search: withoutTab });
  if (playbook.state !== 'archived') {
    return (
      <Section
        title={t`Archive`}
        description={t`It runs no more, by nobody and no schedule. Archived playbooks can be brought back or deleted.`}
      >
        <Group>
          <Button
            variant="default"
            leftSection={<Archive size={14} aria-hidden />}
            loading={isArchiving}
            onClick={archive}
          >
            {t`Archive`}
          </Button>
        </Group>
      </Section>
    );
  }
  return (
    <Section
      title={t`Archived`}
      description={t`Bring it back as it was, or delete it; a deleted playbook can be restored for thirty days.`}
    >
      <Group>
        <Button
          leftSection={<ArchiveRestore size={14} aria-hidden />}
          loading={isArchiving}
          onClick={bringBack}
        >
          {t`Bring it back`}
        </Button>
        <Button
          variant="default"
          leftSection={<Trash2 size={14} aria-hidden />}
          loading={isDeleting}
          onClick={() => remove(leave)}
        >
          {t`Delete`}
        </Button>
      </Group>
    </Section>
  );
}
