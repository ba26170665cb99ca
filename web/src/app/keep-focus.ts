/** Keeps the keyboard where it was when what has the focus is removed, or disabled for a while. */
import { PAGE_TITLE_ID } from '@/components/Page';

const HOLDERS = 'main, section, article, form, li, td, [role]';
// Dialogs and menus give the focus back by themselves, a few milliseconds after they close.
const THEIR_TURN = 60;

export function keepFocus(): () => void {
  let path: HTMLElement[] = [];
  /** What had the focus before a dialog took it. */
  const openers = new WeakMap<Element, HTMLElement>();
  let isWaiting = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function remember({ target }: Event) {
    const dialog = target instanceof Element && target.closest('[role=dialog]');
    if (dialog && path[0] && !openers.has(dialog)) openers.set(dialog, path[0]);
    path = [];
    isWaiting = false;
    for (let each = target; each instanceof HTMLElement; each = each.parentElement) path.push(each);
  }
  /** A click beside everything takes the focus away on purpose. */
  function forget() {
    path = [];
  }
  function restore() {
    timer = undefined;
    const [last] = path;
    if (!last || (document.activeElement ?? document.body) !== document.body) return;
    if (last.isConnected) {
      if (last.matches(':disabled')) isWaiting = true;
      else if (isWaiting) last.focus({ preventScroll: true });
      return;
    }
    const opener = path.map((each) => openers.get(each)).find((each) => each?.isConnected);
    const holder =
      opener ??
      path.find((each) => each.isConnected && each.matches(HOLDERS)) ??
      document.getElementById(PAGE_TITLE_ID);
    if (holder && holder.tabIndex < 0) holder.tabIndex = -1;
    holder?.focus({ preventScroll: true });
  }
  const observer = new MutationObserver(() => {
    // Whether the focus is lost shows only after the next frame.
    if (path.length > 0) timer ??= setTimeout(restore, THEIR_TURN);
  });
  document.addEventListener('focusin', remember);
  document.addEventListener('pointerdown', forget, true);
  observer.observe(document.body, {
    subtree: true,
    childList: true,
    attributeFilter: ['disabled'],
  });
  return () => {
    clearTimeout(timer);
    observer.disconnect();
    document.removeEventListener('focusin', remember);
    document.removeEventListener('pointerdown', forget, true);
  };
}
