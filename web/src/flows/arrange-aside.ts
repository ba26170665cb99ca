/** `arrange` in a worker. */
import type { Arrangement } from './arrange';
import type { Point } from './layout';

export function arrangeAside(wanted: Arrangement): Promise<Record<string, Point>> {
  const worker = new Worker(new URL('./arrange.worker.ts', import.meta.url), { type: 'module' });
  return new Promise<Record<string, Point>>((resolve, reject) => {
    worker.addEventListener('message', ({ data }: MessageEvent<Record<string, Point>>) =>
      resolve(data),
    );
    worker.addEventListener('error', ({ message }) => reject(new Error(message)));
    worker.postMessage(wanted);
  }).finally(() => worker.terminate());
}
