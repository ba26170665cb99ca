/** Full page loads: they drop everything held in memory, which is what signing out asks for. */

const RELOADED = 'steward.reloaded-at';
const RELOAD_PAUSE = 30_000;

/** The address of the sign-in page that leads back to where one is now. */
export function signInAddress(location: Pick<Location, 'pathname' | 'search' | 'hash'>): string {
  const here = `${location.pathname}${location.search}${location.hash}`;
  const next = here === '/' ? '' : `?next=${encodeURIComponent(here)}`;
  return `/sign-in${next}`;
}

let isLeaving = false;

export function goToSignIn(): void {
  const { location } = globalThis;
  // Several requests may learn that the session is over; a second departure would cancel the first.
  if (isLeaving) return;
  if (location.pathname.startsWith('/sign-in') || location.pathname.startsWith('/invite')) return;
  isLeaving = true;
  location.assign(signInAddress(location));
}

/** After an upgrade of the server the old page's parts are gone: load the new page, but never in a loop. */
export function reloadOnceAfterUpgrade(): void {
  globalThis.addEventListener('vite:preloadError', (event) => {
    const last = Number(sessionStorage.getItem(RELOADED) ?? 0);
    if (Date.now() - last < RELOAD_PAUSE) return;
    event.preventDefault();
    sessionStorage.setItem(RELOADED, String(Date.now()));
    globalThis.location.reload();
  });
}
