/** A part of the page's address that its path names, such as `$fileId`. */
import { useParams } from '@tanstack/react-router';

export function usePathParam(name: string): string | undefined {
  const params: Record<string, string | undefined> = useParams({ strict: false });
  return params[name];
}
