/** Arranges large graphs beside the page, which stays usable meanwhile. */
import { arrange, type Arrangement } from './arrange';

globalThis.addEventListener('message', ({ data }: MessageEvent<Arrangement>) => {
  globalThis.postMessage(arrange(data));
});
