/** Name, formats, appearance and password of the signed-in person. */
import { t } from '@lingui/core/macro';
import { Input, Skeleton, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { meQuery } from '@/api/me';
import { ErrorState } from '@/components/ErrorState';
import { Page } from '@/components/Page';
import { Section } from '@/components/Section';
import { LANGUAGES } from '@/language/choice';
import { ColourScheme } from './ColourScheme';
import { Language } from './Language';
import { PasswordForm } from './PasswordForm';
import { Passkeys } from './Passkeys';
import { PersonForm } from './PersonForm';
import { PushDevices } from './PushDevices';
import { Sessions } from './Sessions';
import { TwoStep } from './TwoStep';

export default function ProfilePage() {
  const query = useQuery(meQuery);
  return (
    <Page title={t`Profile`} width="narrow">
      {query.isPending ? (
        <Stack aria-busy>
          <Skeleton height={160} />
          <Skeleton height={120} />
        </Stack>
      ) : query.isError ? (
        <ErrorState error={query.error} retry={() => void query.refetch()} />
      ) : (
        <>
          <Section title={t`You`} framed>
            <PersonForm current={query.data} />
          </Section>
          <Section title={t`Appearance`} framed>
            <Input.Wrapper
              label={t`Colour scheme`}
              description={t`Kept in this browser.`}
              labelElement="div"
              descriptionProps={{ mb: 6 }}
              maw="20rem"
            >
              <ColourScheme />
            </Input.Wrapper>
            {LANGUAGES.length > 1 && (
              <Input.Wrapper
                label={t`Language`}
                description={t`Kept in this browser. Names and texts that people wrote stay as they are.`}
                labelElement="div"
                descriptionProps={{ mb: 6 }}
                maw="32rem"
                mt="md"
              >
                <Language />
              </Input.Wrapper>
            )}
          </Section>
          <Section
            title={t`Password`}
            framed
            description={
              query.data.document.has_password
                ? t`Changing it signs you out everywhere else.`
                : t`You signed in with a link. With a password you can come back without one.`
            }
          >
            <PasswordForm user={query.data.document} />
          </Section>
          <Section
            title={t`Passkeys`}
            framed
            description={t`Sign in with your fingerprint, face, PIN or security key. A passkey needs no password and counts as two-step sign-in.`}
          >
            <Passkeys user={query.data.document} />
          </Section>
          <Section
            title={t`Two-step sign-in`}
            framed
            description={t`After your password, Steward asks for a code from an app on your phone.`}
          >
            <TwoStep user={query.data.document} />
          </Section>
          <Section
            title={t`Notifications on your devices`}
            framed
            description={t`A short message when a run asks you for an approval or an answer. It stops when you sign out there.`}
          >
            <PushDevices />
          </Section>
          <Section title={t`Where you are signed in`} framed>
            <Sessions />
          </Section>
        </>
      )}
    </Page>
  );
}
