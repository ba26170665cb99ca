/** Signs in with a passkey: the browser asks which one, and for a finger, a face or a PIN. */
import { t } from '@lingui/core/macro';
import { Button, Stack } from '@mantine/core';
import { KeyRound } from 'lucide-react';
import { arePasskeysPossible, usePasskeySignIn } from '@/api/passkeys';
import { FormError } from '@/components/FormError';

export default function PasskeyButton({ onDone }: { onDone: () => void }) {
  const signIn = usePasskeySignIn();
  if (!arePasskeysPossible()) return null;
  return (
    <Stack mt="md">
      <FormError error={signIn.error} />
      <Button
        variant="default"
        fullWidth
        leftSection={<KeyRound size={14} aria-hidden />}
        loading={signIn.isPending}
        onClick={() => signIn.mutate(undefined, { onSuccess: onDone })}
      >
        {t`Sign in with a passkey`}
      </Button>
    </Stack>
  );
}
