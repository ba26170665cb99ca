/** Names for the shapes of the HTTP API, taken from the generated schema. */
import type { components } from './schema';

type Schemas = components['schemas'];

export type About = Schemas['About'];
export type EventRecord = Schemas['Event'];
export type FilePreview = Schemas['FilePreview'];
export type Invitation = Schemas['Invitation'];
export type InvitationCreated = Schemas['InvitationCreated'];
export type InvitationLookup = Schemas['InvitationLookup'];
export type Member = Schemas['Member'];
export type Notification = Schemas['Notification'];
export type Project = Schemas['Project'];
export type ProjectFile = Schemas['File'];
export type ProjectRef = Schemas['ProjectRef'];
export type Role = Schemas['Role'];
export type Secret = Schemas['Secret'];
export type Session = Schemas['Session'];
export type Token = Schemas['Token'];
export type TokenCreated = Schemas['TokenCreated'];
export type User = Schemas['User'];

/** One page of a list, and where the next one starts. */
export interface ListPage<Item> {
  items: Item[];
  next_cursor: string | null;
}
