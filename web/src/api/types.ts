/** Names for the shapes of the HTTP API, taken from the generated schema. */
import type { components } from './schema';

type Schemas = components['schemas'];

export type Role = Schemas['MemberRole']['role'];
type Level = 'info' | 'success' | 'warning' | 'error';

/** What a text of an answer is, by the name of its field. */
type Named<Key, Text> = Key extends 'role' ? Role : Key extends 'level' ? Level : Text;

/** The schema calls roles and levels of answers plain strings; here they are the known ones. */
export type Answer<Body> = Body extends readonly (infer Item)[]
  ? Answer<Item>[]
  : Body extends object
    ? {
        [Key in keyof Body]: string extends Body[Key] ? Named<Key, Body[Key]> : Answer<Body[Key]>;
      }
    : Body;

export type EventRecord = Answer<Schemas['EventOut']>;
export type Invitation = Answer<Schemas['InvitationOut']>;
export type InvitationCreated = Answer<Schemas['NewInvitationOut']>;
export type InvitationLookup = Answer<Schemas['InvitationPreviewOut']>;
export type Member = Answer<Schemas['MemberOut']>;
export type Notification = Answer<Schemas['NotificationOut']>;
export type NotificationPage = Answer<Schemas['NotificationPage']>;
export type Project = Answer<Schemas['ProjectOut']>;
export type ProjectFile = Answer<Schemas['FileEntryOut']>;
export type ProjectRef = Answer<Schemas['ProjectRef']>;
export type OpenSession = Answer<Schemas['OpenSessionOut']>;
export type Passkey = Answer<Schemas['PasskeyOut']>;
export type Secret = Answer<Schemas['SecretOut']>;
export type SignOnProvider = Answer<Schemas['ProviderOut']>;
export type SignOnRule = Answer<Schemas['RuleIO']>;
export type Session = Answer<Schemas['SessionOut']>;
export type Token = Answer<Schemas['TokenOut']>;
export type FileLink = Answer<Schemas['LinkOut']>;
export type NewDownloadLink = Schemas['DownloadLinkIn'];
export type NewUploadLink = Schemas['UploadLinkIn'];
export type Program = Answer<Schemas['ConnectedProgramOut']>;
export type ProgramAsking = Answer<Schemas['AskingOut']>;
export type User = Answer<Schemas['UserOut']>;

/** One page of a list, and where the next one starts. */
export interface ListPage<Item> {
  items: Item[];
  next_cursor: string | null;
}
