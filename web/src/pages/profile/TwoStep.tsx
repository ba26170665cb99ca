/** Two-step sign-in: set up with an app on a phone, new recovery codes, off again. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import {
  Alert,
  Button,
  Code,
  Group,
  PasswordInput,
  Skeleton,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { QRCodeSVG } from 'qrcode.react';
import { useState } from 'react';
import { fieldMessages } from '@/api/errors';
import {
  twoStepQuery,
  useBeginTwoStep,
  useConfirmTwoStep,
  useRenewRecoveryCodes,
  useTurnTwoStepOff,
} from '@/api/two-step';
import type { User } from '@/api/types';
import { CopyField } from '@/components/CopyField';
import { ErrorState } from '@/components/ErrorState';
import { FormError } from '@/components/FormError';
import { RelativeTime } from '@/components/Moment';
import { showDone } from '@/components/undo';
import { useCopy } from '@/components/use-copy';

export function TwoStep({ user }: { user: User }) {
  const query = useQuery(twoStepQuery);
  const begin = useBeginTwoStep();
  const confirm = useConfirmTwoStep();
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  if (query.isPending) return <Skeleton height={60} aria-busy />;
  if (query.isError) {
    return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  }
  if (codes !== null) return <RecoveryCodes codes={codes} onDone={() => setCodes(null)} />;
  if (query.data.since !== null) {
    return (
      <TurnedOn
        since={query.data.since}
        left={query.data.recovery_codes_left}
        onCodes={(made) => setCodes(made)}
      />
    );
  }
  if (!user.has_password) {
    return <Text size="sm">{t`Set a password first. Two-step sign-in protects a password.`}</Text>;
  }
  if (begin.data === undefined) {
    return (
      <PasswordFirst
        error={begin.error}
        isPending={begin.isPending}
        onPassword={(password) => begin.mutate(password)}
      />
    );
  }
  return (
    <Stack>
      <Text size="sm">
        {t`1. Scan this picture with an authenticator app on your phone, or type the key into the app.`}
      </Text>
      <QRCodeSVG
        value={begin.data.address}
        size={180}
        marginSize={2}
        role="img"
        title={t`QR code for the authenticator app`}
      />
      <CopyField label={t`Key`} value={begin.data.secret} />
      <Text size="sm">{t`2. Type the code that the app shows now.`}</Text>
      <CodeForm
        action={t`Turn on`}
        error={confirm.error}
        isPending={confirm.isPending}
        onCode={(code, onError) =>
          confirm.mutate(code, {
            onSuccess: ({ recovery_codes: made }) => setCodes(made),
            onError,
          })
        }
      />
    </Stack>
  );
}

interface PasswordFirstProps {
  error: unknown;
  isPending: boolean;
  onPassword: (password: string) => void;
}

function PasswordFirst({ error, isPending, onPassword }: PasswordFirstProps) {
  const form = useForm({
    initialValues: { password: '' },
    validate: { password: (given) => (given === '' ? t`Enter your current password.` : null) },
  });
  return (
    <form onSubmit={form.onSubmit(({ password }) => onPassword(password))} noValidate>
      <Stack maw="26rem">
        <PasswordInput
          label={t`Current password`}
          autoComplete="current-password"
          {...form.getInputProps('password')}
        />
        <FormError error={error} />
        <Group>
          <Button type="submit" variant="default" loading={isPending}>
            {t`Set up two-step sign-in`}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface TurnedOnProps {
  since: string;
  left: number;
  onCodes: (codes: readonly string[]) => void;
}

function TurnedOn({ since, left, onCodes }: TurnedOnProps) {
  const renew = useRenewRecoveryCodes();
  const off = useTurnTwoStepOff();
  const [wish, setWish] = useState<'codes' | 'off' | null>(null);
  const asked = wish === 'off' ? off : renew;
  return (
    <Stack>
      <Text size="sm">
        <Trans>
          On since <RelativeTime value={since} />. Recovery codes left: {left}.
        </Trans>
      </Text>
      {wish === null ? (
        <Group>
          <Button variant="default" onClick={() => setWish('codes')}>
            {t`Make new recovery codes`}
          </Button>
          <Button variant="default" onClick={() => setWish('off')}>
            {t`Turn off`}
          </Button>
        </Group>
      ) : (
        <CodeForm
          action={wish === 'off' ? t`Turn off` : t`Make new recovery codes`}
          error={asked.error}
          isPending={asked.isPending}
          onCancel={() => setWish(null)}
          onCode={(code, onError) => {
            if (wish === 'off') {
              off.mutate(code, {
                onSuccess: () => showDone(t`Two-step sign-in is off`),
                onError,
              });
            } else {
              renew.mutate(code, {
                onSuccess: ({ recovery_codes: made }) => onCodes(made),
                onError,
              });
            }
          }}
        />
      )}
    </Stack>
  );
}

interface CodeFormProps {
  action: string;
  error: unknown;
  isPending: boolean;
  onCode: (code: string, onError: (error: unknown) => void) => void;
  onCancel?: () => void;
}

function CodeForm({ action, error, isPending, onCode, onCancel }: CodeFormProps) {
  const form = useForm({
    initialValues: { code: '' },
    validate: { code: (code) => (code.trim() === '' ? t`Type the code.` : null) },
  });
  const submit = form.onSubmit(({ code }) =>
    onCode(code, (problem) => form.setErrors(fieldMessages(problem))),
  );
  return (
    <form onSubmit={submit} noValidate>
      <Stack maw="26rem">
        <TextInput
          label={t`Code`}
          description={t`From the app, or a recovery code.`}
          autoComplete="one-time-code"
          {...form.getInputProps('code')}
        />
        <FormError error={error} />
        <Group>
          <Button type="submit" loading={isPending}>
            {action}
          </Button>
          {onCancel && (
            <Button variant="default" onClick={onCancel}>
              {t`Cancel`}
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  );
}

function RecoveryCodes({ codes, onDone }: { codes: readonly string[]; onDone: () => void }) {
  const { copied, copy } = useCopy();
  return (
    <Stack>
      <Alert color="yellow" variant="light" title={t`Keep these recovery codes`}>
        <Text size="sm">
          {t`Each one signs you in once if you lose your phone. Steward shows them only now. Print them or put them into a password manager.`}
        </Text>
      </Alert>
      <Code block>{codes.join('\n')}</Code>
      <Group>
        <Button onClick={onDone}>{t`I have kept them`}</Button>
        <Button variant="default" onClick={() => void copy(codes.join('\n'))}>
          {copied ? t`Copied` : t`Copy all`}
        </Button>
      </Group>
    </Stack>
  );
}
