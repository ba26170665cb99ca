/** What is shown in place of a page: while it loads, when it failed, when there is none. */
import { t } from '@lingui/core/macro';
import { Anchor, Button, Center, Loader, VisuallyHidden } from '@mantine/core';
import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router';
import { FolderX, SearchX } from 'lucide-react';
import { type ReactNode, useEffect } from 'react';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { PAGE_TITLE_ID } from '@/components/Page';

export function LoadingPage() {
  return (
    <Center mih="40vh">
      <Loader size="sm" type="dots" role="status" aria-label={t`Loading`} />
    </Center>
  );
}

/** Any page that threw: says why and tries again without losing the rest of the app. */
export function FailedPage({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const retry = () => {
    reset();
    void router.invalidate();
  };
  return (
    <Fallback title={t`Something went wrong`}>
      <ErrorState
        error={error}
        retry={retry}
        action={
          <Button variant="subtle" color="gray" onClick={() => globalThis.location.reload()}>
            {t`Reload`}
          </Button>
        }
      />
    </Fallback>
  );
}

export function MissingPage() {
  return (
    <Fallback title={t`Page not found`}>
      <EmptyState icon={SearchX} title={t`There is no page at this address`} action={<WayHome />}>
        {t`It may have moved, or the link may be incomplete.`}
      </EmptyState>
    </Fallback>
  );
}

export function MissingProject() {
  return (
    <Fallback title={t`Project not found`}>
      <EmptyState icon={FolderX} title={t`There is no project for you here`} action={<WayHome />}>
        {t`It may have been deleted, or you are not a member of it. Ask the person who sent you the link to invite you.`}
      </EmptyState>
    </Fallback>
  );
}

function WayHome() {
  return (
    <Anchor component={Link} to="/" size="sm" mt="xs">
      {t`Go to your projects`}
    </Anchor>
  );
}

function Fallback({ title, children }: { title: string; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Steward`;
  }, [title]);
  return (
    <Center mih="70vh" px="md">
      <VisuallyHidden>
        <h1 id={PAGE_TITLE_ID} tabIndex={-1}>
          {title}
        </h1>
      </VisuallyHidden>
      {children}
    </Center>
  );
}
