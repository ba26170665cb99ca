/** Browser features that jsdom lacks and Mantine expects, and a clean document between tests. */
import '@testing-library/jest-dom/vitest';
import { cleanup, configure } from '@testing-library/react';
import { afterEach } from 'vitest';
import { rememberCsrfToken, whenSignedOut } from '@/api/client';
import { clearToasts } from '@/components/toasts';

// A busy machine is no reason to fail: waiting ends as soon as there is something to see.
configure({ asyncUtilTimeout: 30_000 });

afterEach(() => {
  cleanup();
  // The app keeps these beside React's tree; all test files of a worker share them.
  clearToasts();
  rememberCsrfToken(null);
  whenSignedOut(() => undefined);
  localStorage.clear();
});

window.matchMedia = (query: string) =>
  ({
    matches: false,
    media: query,
    onchange: null,
    addEventListener: () => undefined,
    removeEventListener: () => undefined,
    addListener: () => undefined,
    removeListener: () => undefined,
    dispatchEvent: () => false,
  }) satisfies MediaQueryList;

class NoResizeObserver implements ResizeObserver {
  observe = () => undefined;
  unobserve = () => undefined;
  disconnect = () => undefined;
}
window.ResizeObserver = NoResizeObserver;
window.scrollTo = () => undefined;
window.HTMLElement.prototype.scrollIntoView = () => undefined;
// Fields that grow with their text measure it anew when a font has arrived.
Object.defineProperty(document, 'fonts', { value: new EventTarget(), configurable: true });
