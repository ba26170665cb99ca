/** What is configured on this machine already: shown with its secrets masked, used only once accepted. */
import { t } from '@lingui/core/macro';
import { Alert, Button, Code, Group, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { RotateCw } from 'lucide-react';
import { useState } from 'react';
import {
  type Connection,
  type Proposal,
  proposalsQuery,
  useAcceptProposal,
  useBringBackProposal,
  useDismissProposal,
  useLookForConnections,
} from '@/api/connections';
import { Section } from '@/components/Section';
import { offerUndo, showDone, showFailure } from '@/components/undo';
import classes from './connections.module.css';

interface Props {
  projectId: string;
  onAccepted: (connection: Connection) => void;
}

export function Proposals({ projectId, onAccepted }: Props) {
  const query = useQuery(proposalsQuery(projectId));
  const look = useLookForConnections(projectId);
  // To everybody but those who run the installation the answer is no, and there is nothing to show.
  if (query.data === undefined) return null;
  const again = (
    <Button
      variant="default"
      size="compact-sm"
      flex="none"
      leftSection={<RotateCw size={13} aria-hidden />}
      loading={look.isPending}
      onClick={() => look.mutate(undefined, { onError: showFailure })}
    >
      {t`Look again`}
    </Button>
  );
  return (
    <Section
      title={t`Found on this machine`}
      description={t`In the environment and in other programs’ settings. Only you see this, and nothing of it is used before you accept it.`}
      actions={again}
      framed
    >
      {query.data.length === 0 ? (
        <Text size="sm" c="dimmed" p="md">
          {t`Steward found no other connections.`}
        </Text>
      ) : (
        <ul className={classes.proposals}>
          {query.data.map((proposal) => (
            <Found key={proposal.id} {...{ projectId, proposal, onAccepted }} />
          ))}
        </ul>
      )}
    </Section>
  );
}

function Found({ projectId, proposal, onAccepted }: Props & { proposal: Proposal }) {
  const accept = useAcceptProposal(projectId);
  const dismiss = useDismissProposal(projectId);
  const bringBack = useBringBackProposal(projectId);
  const [given, setGiven] = useState<Record<string, string>>({});
  const { id, name, title, found_in, settings, masked, missing, note, refused, kind } = proposal;
  const shown = Object.entries({ ...settings, ...masked }).map(
    ([key, value]) => `${key} ${Array.isArray(value) ? value.join(' ') : String(value)}`,
  );
  const incomplete = missing.some((field) => (given[field] ?? '').trim() === '');
  // An accepted or dismissed proposal leaves the list, and callbacks of what has left are not called: promises are.
  const onAccept = () =>
    void accept.mutateAsync({ id, settings: given }).then((made) => {
      showDone(t`${made.name} added`);
      onAccepted(made);
    }, showFailure);
  const onDismiss = () =>
    void dismiss.mutateAsync(id).then(() => {
      offerUndo({
        message: t`${name} dismissed`,
        undo: () => bringBack.mutateAsync(id),
        undone: t`${name} is back`,
      });
    }, showFailure);
  return (
    <li className={classes.proposal}>
      <div className={classes.about}>
        <Text size="sm" fw={500}>
          {title}: {name}
        </Text>
        <Text size="xs" c="dimmed" className={classes.place}>
          {t`From ${found_in}`}
        </Text>
        {shown.length > 0 && (
          <Code block fz="xs" mt={4} className={classes.place} style={{ whiteSpace: 'pre-wrap' }}>
            {shown.join('\n')}
          </Code>
        )}
        {note !== '' && (
          <Text size="xs" mt={4} className={classes.place}>
            {note}
          </Text>
        )}
        {refused !== '' && (
          <Alert color="yellow" mt={6} p="xs">
            <Text size="xs">{refused}</Text>
          </Alert>
        )}
        {missing.map((field) => (
          <TextInput
            key={field}
            mt={6}
            size="xs"
            maw="18rem"
            label={t`Say the ${field}`}
            value={given[field] ?? ''}
            onChange={({ currentTarget }) => setGiven({ ...given, [field]: currentTarget.value })}
          />
        ))}
      </div>
      <Group gap="xs">
        {kind !== 'model' && refused === '' && (
          <Button
            size="compact-sm"
            aria-label={t`Accept ${name}`}
            disabled={incomplete}
            loading={accept.isPending}
            onClick={onAccept}
          >
            {t`Accept`}
          </Button>
        )}
        <Button
          size="compact-sm"
          variant="subtle"
          color="gray"
          aria-label={t`Dismiss ${name}`}
          onClick={onDismiss}
        >
          {t`Dismiss`}
        </Button>
      </Group>
    </li>
  );
}
