/** The navigation of small screens; fetched when first opened. */
import { t } from '@lingui/core/macro';
import { Drawer } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './Shell.module.css';

interface Props {
  opened: boolean;
  onClose: () => void;
  children: ReactNode;
}

export default function NavigationDrawer({ opened, onClose, children }: Props) {
  return (
    <Drawer
      opened={opened}
      onClose={onClose}
      size="17rem"
      withCloseButton={false}
      attributes={{ content: { 'aria-label': t`Navigation` } }}
      classNames={{ body: classes.drawer }}
    >
      {children}
    </Drawer>
  );
}
