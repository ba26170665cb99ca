/** Files dropped anywhere on the page. */
import { useEffect, useRef, useState } from 'react';

const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;

/** Hands over dropped files; true while some hover over the page. */
export function useFileDrop(onFiles: (files: File[]) => void, enabled: boolean): boolean {
  const [over, setOver] = useState(false);
  const handler = useRef(onFiles);
  useEffect(() => {
    handler.current = onFiles;
  });
  useEffect(() => {
    if (!enabled) return;
    // Entering a child fires before leaving its parent, hence a count.
    let depth = 0;
    const change = (event: DragEvent, step: number) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      depth = Math.max(0, depth + step);
      setOver(depth > 0);
    };
    const onEnter = (event: DragEvent) => change(event, 1);
    const onLeave = (event: DragEvent) => change(event, -1);
    const onOver = (event: DragEvent) => change(event, 0);
    const onDrop = (event: DragEvent) => {
      change(event, -depth);
      const files = [...(event.dataTransfer?.files ?? [])];
      if (files.length > 0) handler.current(files);
    };
    window.addEventListener('dragenter', onEnter);
    window.addEventListener('dragleave', onLeave);
    window.addEventListener('dragover', onOver);
    window.addEventListener('drop', onDrop);
    return () => {
      window.removeEventListener('dragenter', onEnter);
      window.removeEventListener('dragleave', onLeave);
      window.removeEventListener('dragover', onOver);
      window.removeEventListener('drop', onDrop);
    };
  }, [enabled]);
  return over;
}
