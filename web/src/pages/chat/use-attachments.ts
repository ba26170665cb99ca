/** Files that go with the next message: sent at once, while the message is still being written. */
import { useEffect, useRef, useState } from 'react';
import { abandonUpload, sendFile, transportOf } from '@/api/uploads';
import { showFailure } from '@/components/undo';

export interface Attached {
  id: number;
  name: string;
  size: number;
  sent: number;
  /** Known once all of it has arrived. */
  upload: string | null;
}

export function useAttachments(projectId: string) {
  const [files, setFiles] = useState<Attached[]>([]);
  const counter = useRef(0);
  const running = useRef(new Map<number, AbortController>());
  useEffect(() => {
    const open = running.current;
    return () => open.forEach((sending) => sending.abort());
  }, []);
  const change = (id: number, told: Partial<Attached>) =>
    setFiles((known) => known.map((file) => (file.id === id ? { ...file, ...told } : file)));
  const drop = (id: number) => setFiles((known) => known.filter((file) => file.id !== id));

  const add = (chosen: File[]) => {
    for (const file of chosen) void send(file);
  };
  const send = async (file: File) => {
    counter.current += 1;
    const id = counter.current;
    const sending = new AbortController();
    running.current.set(id, sending);
    const { name, size } = file;
    setFiles((known) => [...known, { id, name, size, sent: 0, upload: null }]);
    try {
      const upload = await sendFile(file, {
        transport: transportOf(projectId),
        signal: sending.signal,
        onProgress: (sent) => change(id, { sent }),
      });
      change(id, { upload });
    } catch (error) {
      drop(id);
      if (!sending.signal.aborted) showFailure(error);
    } finally {
      running.current.delete(id);
    }
  };
  const remove = ({ id, upload }: Attached) => {
    running.current.get(id)?.abort();
    drop(id);
    if (upload !== null) abandonUpload(projectId, upload).catch(showFailure);
  };
  return { files, add, remove, clear: () => setFiles([]) };
}
