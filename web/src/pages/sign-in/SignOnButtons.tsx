/** The ways in through a provider, and why the last one did not work. */
import { Alert, Button, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { LogIn, TriangleAlert } from 'lucide-react';
import { offeredQuery } from '@/api/sign-on';

const PROBLEMS: Record<string, string> = {
  'sign-on-expired':
    'This sign-in has expired, was already used, or was started in another browser. Start again.',
  'sign-on-declined': 'The provider did not sign you in. Try again, or ask your administrator.',
  'sign-on-no-access':
    'You signed in at the provider, but you have no access here. Ask an owner for a role or an invitation.',
  'sign-on-no-email':
    'The provider did not tell Steward your e-mail address. Ask your administrator to release it.',
  'sign-on-address-taken':
    'There is already an account with your e-mail address. Sign in with its password, or ask an owner.',
  'sign-on-disabled': 'Your account is disabled. Ask an owner.',
  'sign-on-gone': 'This way to sign in is no longer offered. Choose another one.',
  'sign-on-unavailable': 'The provider does not answer. Try again in a moment.',
  'sign-on-no-public-url':
    'Single sign-on is not set up completely. Ask the person who runs Steward to set its public address.',
};
const OTHER =
  'Signing in with the provider failed. Try again. If it fails again, an owner can find the reason in the activity log.';

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
        or
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
          Sign in with {name}
        </Button>
      ))}
    </Stack>
  );
}
