/** Name, formats, appearance and password of the signed-in person. */
import { Input, Skeleton, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { meQuery } from '@/api/me';
import { ErrorState } from '@/components/ErrorState';
import { Page } from '@/components/Page';
import { Section } from '@/components/Section';
import { ColourScheme } from './ColourScheme';
import { PasswordForm } from './PasswordForm';
import { Passkeys } from './Passkeys';
import { PersonForm } from './PersonForm';
import { PushDevices } from './PushDevices';
import { Sessions } from './Sessions';
import { TwoStep } from './TwoStep';

export default function ProfilePage() {
  const query = useQuery(meQuery);
  return (
    <Page title="Profile" width="narrow">
      {query.isPending ? (
        <Stack aria-busy>
          <Skeleton height={160} />
          <Skeleton height={120} />
        </Stack>
      ) : query.isError ? (
        <ErrorState error={query.error} retry={() => void query.refetch()} />
      ) : (
        <>
          <Section title="You" framed>
            <PersonForm current={query.data} />
          </Section>
          <Section title="Appearance" framed>
            <Input.Wrapper
              label="Colour scheme"
              description="Kept in this browser."
              labelElement="div"
              descriptionProps={{ mb: 6 }}
              maw="20rem"
            >
              <ColourScheme />
            </Input.Wrapper>
          </Section>
          <Section
            title="Password"
            framed
            description={
              query.data.document.has_password
                ? 'Changing it signs you out everywhere else.'
                : 'You signed in with a link. With a password you can come back without one.'
            }
          >
            <PasswordForm user={query.data.document} />
          </Section>
          <Section
            title="Passkeys"
            framed
            description="Sign in with your fingerprint, face, PIN or security key. A passkey needs no password and counts as two-step sign-in."
          >
            <Passkeys user={query.data.document} />
          </Section>
          <Section
            title="Two-step sign-in"
            framed
            description="After your password, Steward asks for a code from an app on your phone."
          >
            <TwoStep user={query.data.document} />
          </Section>
          <Section
            title="Notifications on your devices"
            framed
            description="A short message when a run asks you for an approval or an answer. It stops when you sign out there."
          >
            <PushDevices />
          </Section>
          <Section title="Where you are signed in" framed>
            <Sessions />
          </Section>
        </>
      )}
    </Page>
  );
}
