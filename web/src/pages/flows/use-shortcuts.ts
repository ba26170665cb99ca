/** Keys and the clipboard of a part of the page: while it has the focus, and while nothing else has it. */
import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react';

interface Handlers {
  onKey: (event: KeyboardEvent) => void;
  onCopy: (event: ClipboardEvent) => void;
  onPaste: (event: ClipboardEvent) => void;
}

/** A click on the empty canvas takes the focus away from everything: what is pressed then still belongs to it. */
export function useShortcuts(part: RefObject<HTMLElement | null>, handlers: Handlers): void {
  const latest = useRef(handlers);
  useLayoutEffect(() => {
    latest.current = handlers;
  });
  useEffect(() => {
    // In it, or around it: the page as a whole has the focus when nothing in it has.
    const isMeant = ({ target }: Event) =>
      part.current !== null &&
      target instanceof Node &&
      (part.current.contains(target) || target.contains(part.current));
    const press = (event: KeyboardEvent) => {
      if (isMeant(event) && !isTyping(event)) latest.current.onKey(event);
    };
    const copy = (event: ClipboardEvent) => {
      if (isMeant(event) && !isTyping(event)) latest.current.onCopy(event);
    };
    const paste = (event: ClipboardEvent) => {
      if (isMeant(event) && !isTyping(event)) latest.current.onPaste(event);
    };
    // Before the page's own undo hears of it.
    document.addEventListener('keydown', press, true);
    document.addEventListener('copy', copy);
    document.addEventListener('paste', paste);
    return () => {
      document.removeEventListener('keydown', press, true);
      document.removeEventListener('copy', copy);
      document.removeEventListener('paste', paste);
    };
  }, [part]);
}

const FIELDS = 'input, textarea, select, [contenteditable="true"]';

function isTyping({ target }: Event): boolean {
  return target instanceof Element && target.closest(FIELDS) !== null;
}
