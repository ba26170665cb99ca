/** Events in words. */
import type { EventRecord } from '@/api/types';

/** Who a user id stands for; null when that is not known any more. */
type NameOf = (userId: string) => string | null;

type Words = (data: Record<string, unknown>, subject: string | null) => string;

const named = (data: Record<string, unknown>, key = 'name') => {
  const value = data[key];
  return typeof value === 'string' && value !== '' ? ` “${value}”` : '';
};
const asRole = (data: Record<string, unknown>) =>
  typeof data.role === 'string' ? ` as ${data.role}` : '';

const SENTENCES: Record<string, Words> = {
  'project.created': (data) => `Project${named(data)} created`,
  'project.updated': (data) => `Project renamed to${named(data)}`,
  'project.deleted': () => 'Project deleted',
  'project.restored': () => 'Project restored',
  'member.changed': (data, person) =>
    `${person ?? 'A member'} is now ${typeof data.role === 'string' ? data.role : 'a member'}`,
  'member.removed': (_data, person) => `${person ?? 'A member'} removed`,
  'invitation.created': (data) => `Invitation created${asRole(data)}`,
  'invitation.accepted': () => 'Invitation accepted',
  'invitation.revoked': () => 'Invitation revoked',
  'token.created': (data) => `API token${named(data)} created${asRole(data)}`,
  'token.revoked': () => 'API token revoked',
  'token.restored': () => 'API token restored',
  'secret.changed': (data) => `Secret${named(data)} set`,
  'secret.deleted': (data) => `Secret${named(data)} deleted`,
  'secret.restored': (data) => `Secret${named(data)} restored`,
  'file.added': (data) => `File${named(data)} added`,
};

/** `org.steward.member.changed` is a member.changed. */
export function eventKind(type: string): string {
  return type.replace(/^org\.steward\./, '');
}

/** A sentence for an event; one that is not known yet still reads as words. */
export function describeEvent(
  { type, data, subject }: Pick<EventRecord, 'type' | 'data' | 'subject'>,
  nameOf: NameOf = () => null,
): string {
  const kind = eventKind(type);
  const sentence = SENTENCES[kind];
  if (sentence) return sentence(data, nameOf(subject));
  const words = kind.replaceAll(/[._]/g, ' ');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}${named(data)}`;
}

/** Events that tell one person something are no part of the project's story. */
export function isStory({ type }: Pick<EventRecord, 'type'>): boolean {
  return !eventKind(type).startsWith('notification.');
}
