/**
 * A menu that opens beside its button and is driven by keyboard as menus are.
 * Mantine's Menu would bring its positioning engine into the first download; the shell's two menus
 * sit at fixed places and do not need it. Pages use Mantine's.
 */
import { UnstyledButton, VisuallyHidden } from '@mantine/core';
import { Check } from 'lucide-react';
import {
  type FocusEvent,
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react';
import classes from './DropMenu.module.css';

interface Props {
  label: string;
  /** The content of the button, … */
  button: ReactNode;
  /** … and what it does, for those who do not see where it is. */
  hint?: string;
  side: 'below' | 'above';
  children: ReactNode;
}

/** Escape closes the menu only, not the drawer of Mantine's that the menu may be in. */
const KEEP_ESCAPE = { 'data-mantine-stop-propagation': 'true' };
const ITEMS = '[role^="menuitem"]';

export function DropMenu({ label, button, hint, side, children }: Props) {
  const [opened, setOpened] = useState(false);
  const id = useId();
  const root = useRef<HTMLDivElement>(null);
  const trigger = useRef<HTMLButtonElement>(null);
  const close = () => {
    setOpened(false);
    trigger.current?.focus();
  };
  useEffect(() => {
    if (opened) root.current?.querySelector<HTMLElement>(ITEMS)?.focus();
  }, [opened]);

  const onBlur = (event: FocusEvent) => {
    if (!root.current?.contains(event.relatedTarget)) setOpened(false);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && opened) {
      event.stopPropagation();
      close();
    } else if (moveFocus(root.current, event.key)) {
      event.preventDefault();
    }
  };
  return (
    // eslint-disable-next-line jsx-a11y/no-static-element-interactions -- listens for its parts
    <div ref={root} className={classes.root} onBlur={onBlur} onKeyDown={onKeyDown}>
      <UnstyledButton
        ref={trigger}
        className={classes.button}
        aria-haspopup="menu"
        {...(opened ? KEEP_ESCAPE : {})}
        aria-expanded={opened}
        aria-controls={opened ? id : undefined}
        onClick={() => setOpened(!opened)}
      >
        {button}
        {hint !== undefined && <VisuallyHidden>{hint}</VisuallyHidden>}
      </UnstyledButton>
      {opened && (
        // The items take the keys; here their clicks arrive and close the menu.
        // eslint-disable-next-line jsx-a11y/click-events-have-key-events
        <div
          id={id}
          role="menu"
          aria-label={label}
          tabIndex={-1}
          className={classes.menu}
          data-side={side}
          onClick={close}
        >
          {children}
        </div>
      )}
    </div>
  );
}

/** Arrow keys, Home and End walk through the items; true when the key was one of them. */
function moveFocus(root: HTMLElement | null, key: string): boolean {
  const items = [...(root?.querySelectorAll<HTMLElement>(ITEMS) ?? [])];
  if (items.length === 0) return false;
  const current = items.findIndex((item) => item === document.activeElement);
  const target = {
    ArrowDown: (current + 1) % items.length,
    ArrowUp: (current - 1 + items.length) % items.length,
    Home: 0,
    End: items.length - 1,
  }[key];
  if (target === undefined) return false;
  items[target]?.focus();
  return true;
}

interface ItemProps {
  icon?: ReactNode;
  /** Set for a choice among several. */
  checked?: boolean;
  onSelect: () => void;
  children: ReactNode;
}

export function DropMenuItem({ icon, checked, onSelect, children }: ItemProps) {
  const role = checked === undefined ? 'menuitem' : 'menuitemradio';
  return (
    <UnstyledButton
      role={role}
      {...KEEP_ESCAPE}
      aria-checked={checked}
      tabIndex={-1}
      className={classes.item}
      onClick={onSelect}
    >
      {icon}
      <span className={classes.grow}>{children}</span>
      {checked && <Check size={14} aria-hidden />}
    </UnstyledButton>
  );
}

export function DropMenuLabel({ children }: { children: ReactNode }) {
  return <div className={classes.label}>{children}</div>;
}

export function DropMenuLine() {
  return <div role="separator" className={classes.line} />;
}
