/** Which playbook is open over the library, by the address; closing leads back to its card. */
import { useNavigate } from '@tanstack/react-router';
import { useCallback, useEffect, useRef } from 'react';
import { projectPath } from '@/app/project';
import { PAGE_TITLE_ID } from '@/components/Page';
import { usePathParam } from '@/components/use-path-param';
import { OTHER_DATA } from './other-data';

/** The link of a card, which has the focus again when its playbook is closed. */
export const cardId = (playbookId: string) => `playbook-${playbookId}`;

/** What the address says about the library stays as it is; what it says about one playbook goes. */
export const withoutTab = (search: Record<string, unknown>) => ({
  ...search,
  tab: undefined,
  sample: undefined,
  [OTHER_DATA]: undefined,
});

export function useOpened(projectId: string) {
  const opened = usePathParam('playbookId');
  const navigate = useNavigate();
  const before = useRef(opened);
  useEffect(() => {
    const left = before.current;
    before.current = opened;
    if (left === undefined || opened !== undefined) return;
    const place = document.getElementById(cardId(left)) ?? document.getElementById(PAGE_TITLE_ID);
    place?.focus({ preventScroll: true });
  }, [opened]);
  const close = useCallback(
    () =>
      void navigate({
        to: projectPath(projectId, 'playbooks'),
        search: withoutTab,
        resetScroll: false,
      }),
    [navigate, projectId],
  );
  return { opened, close };
}
