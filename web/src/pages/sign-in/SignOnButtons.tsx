/** The ways in through a provider, and why the last one did not work. */
import { t } from '@lingui/core/macro';
import { Alert, Button, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { LogIn, TriangleAlert } from 'lucide-react';
import { offeredQuery } from '@/api/sign-on';

const PROBLEMS: Record<string, string> = {
  'sign-on-expired': t`This sign-in has expired, was already used, or was started in another browser. Start again.`,
  'sign-on-declined': t`The provider did not sign you in. Try again, or ask your administrator.`,
  'sign-on-no-access': t`You signed in at the provider, but you have no access here. Ask an owner for a role or an invitation.`,
  'sign-on-no-email': t`The provider did not tell Steward your e-mail address. Ask your administrator to release it.`,
  'sign-on-address-taken': t`There is already an account with your e-mail address. Sign in with its password, or ask an owner.`,
  'sign-on-disabled': t`Your account is disabled. Ask an owner.`,
  'sign-on-gone': t`This way to sign in is no longer offered. Choose another one.`,
  'sign-on-unavailable': t`The provider does not answer. Try again in a moment.`,
  'sign-on-no-public-url': t`Single sign-on is not set up completely. Ask the person who runs Steward to set its public address.`,
};
const OTHER = t`Signing in with the provider failed. Try again. If it fails again, an owner can find the reason in the activity log.`;

export function SignOnProblem({ code }: { code: string }) {
  return (
    <Alert
      role="alert"
      color="red"
      variant="light"
      mb="md"
      icon={<TriangleAlert size={16} aria-hidden />}
    >
      {PROBLEMS[code] ?? OTHER}
    </Alert>
  );
}

export function SignOnButtons({ next }: { next: string }) {
  const { data } = useQuery(offeredQuery);
  if (!data || data.length === 0) return null;
  return (
    <Stack gap="xs" mt="lg">
      <Text size="sm" c="dimmed" ta="center">
        {t`or`}
      </Text>
      {data.map(({ id, name }) => (
        <Button
          key={id}
          component="a"
          href={`/api/v1/sign-on/${id}/start?${new URLSearchParams({ next }).toString()}`}
          variant="default"
          fullWidth
          leftSection={<LogIn size={14} aria-hidden />}
        >
          {t`Sign in with ${name}`}
        </Button>
      ))}
    </Stack>
  );
}
