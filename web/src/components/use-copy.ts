/** Copying with a short "copied" state. */
import { useEffect, useState } from 'react';
import { copyText } from './clipboard';

const SHOWN_FOR = 2_000;

export function useCopy() {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), SHOWN_FOR);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async (text: string): Promise<boolean> => {
    const done = await copyText(text);
    setCopied(done);
    return done;
  };
  return { copied, copy };
}
