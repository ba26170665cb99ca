/** Keeps the end of a growing page in view, unless its reader has gone up to read. */
import { useCallback, useEffect, useState } from 'react';

const NEAR = 120;

function isAtBottom(): boolean {
  const { scrollHeight, clientHeight, scrollTop } = document.documentElement;
  return scrollHeight - clientHeight - scrollTop < NEAR;
}

export function toBottom(): void {
  window.scrollTo({ top: document.documentElement.scrollHeight });
}

/** `newest` names what was added last: a new one is brought into view wherever the reader is. */
export function useBottom(newest: string | undefined) {
  const [content, setContent] = useState<HTMLElement | null>(null);
  const [isAway, setAway] = useState(false);
  useEffect(() => {
    if (!content) return;
    toBottom();
    let stays = true;
    let before = window.scrollY;
    const onScroll = () => {
      // Only who goes up leaves: the page may have grown since it was last brought to its end.
      if (window.scrollY < before) stays = false;
      if (isAtBottom()) stays = true;
      before = window.scrollY;
      setAway(!stays);
    };
    const grown = new ResizeObserver(() => {
      if (stays) toBottom();
      else setAway(!isAtBottom());
    });
    grown.observe(content);
    window.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      grown.disconnect();
      window.removeEventListener('scroll', onScroll);
    };
  }, [content]);
  useEffect(() => {
    if (newest !== undefined) toBottom();
  }, [newest]);
  const attach = useCallback((element: HTMLElement | null) => setContent(element), []);
  return { content: attach, isAway, toBottom };
}
