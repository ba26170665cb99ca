/** Searching in events and writing them down. */
import type { EventRecord } from '@/api/types';
import { describeEvent, eventKind } from '@/components/describe-event';

/** Every word must be found: in the sentence, the type, the subject or the data. */
export function matches(event: EventRecord, text: string, noun: string | null): boolean {
  if (noun !== null && eventKind(event.type).split('.')[0] !== noun) return false;
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return true;
  const heap = [
    describeEvent(event),
    event.who ?? 'Steward',
    event.type,
    event.subject,
    event.time,
    JSON.stringify(event.data),
  ]
    .join(' ')
    .toLowerCase();
  return words.every((word) => heap.includes(word));
}

/** What events speak about, as far as they were fetched. */
export function nounsOf(events: EventRecord[]): string[] {
  const found = new Set(events.map(({ type }) => eventKind(type).split('.')[0] ?? ''));
  return [...found].filter(Boolean).sort();
}

/** One JSON document per line. */
export function ndjson(documents: readonly unknown[]): string {
  return documents.map((document) => `${JSON.stringify(document)}\n`).join('');
}

export function saveText(name: string, text: string, type: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
