/** Events as sentences: who did what to what, with names in place of ids. */
import type { EventRecord } from '@/api/types';
import { operationName } from './operation-name';

const NAMES_SHOWN = 3;

export type NamedEvent = Pick<EventRecord, 'type' | 'data' | 'subject' | 'who' | 'names'>;
type Data = Record<string, unknown>;

/** What a sentence is made of. */
interface Told {
  who: string;
  /** Whose doing it was is known. */
  isKnown: boolean;
  /** The thing it is about, in quotes with a space before; empty when its name is not known. */
  it: string;
  data: Data;
  subject: string;
  /** Who has this id. */
  person: (id: unknown) => string | null;
}

type Words = (told: Told) => string;

const named = (data: Data, key = 'name') => {
  const value = data[key];
  return typeof value === 'string' && value !== '' ? ` “${value}”` : '';
};
const nameIn = (data: Data) => (typeof data.name === 'string' ? data.name : null);
const linkTo = (data: Data) =>
  data.kind === 'upload' ? `send a file for${named(data)}` : `fetch${named(data)}`;
const asRole = (data: Data) => (typeof data.role === 'string' ? ` as ${data.role}` : '');
const textIn = (data: Data, key: string) => {
  const value = data[key];
  return typeof value === 'string' ? value : '';
};

/** "a, b and c"; a long list is cut. */
function joined(names: readonly string[]): string {
  const more = names.length - NAMES_SHOWN;
  const shown = more > 0 ? [...names.slice(0, NAMES_SHOWN), `${more} more`] : [...names];
  const last = shown.pop() ?? '';
  return shown.length === 0 ? last : `${shown.join(', ')} and ${last}`;
}

function listed(names: unknown): string {
  if (!Array.isArray(names) || names.length === 0) return '';
  return `: ${joined(names.map((name) => `“${String(name)}”`))}`;
}

/** With whom a playbook is shared from then on. */
function sharedWith({ data, person }: Told): string | null {
  const allowed = (data.allowed ?? {}) as { everyone?: boolean; users?: unknown; groups?: unknown };
  if (allowed.everyone === true) return 'everyone in the project';
  const users = Array.isArray(allowed.users) ? allowed.users : [];
  const groups = Array.isArray(allowed.groups) ? allowed.groups : [];
  const names = [
    ...users.map((id) => person(id) ?? 'someone who left'),
    ...groups.map((group) => `the group “${String(group)}”`),
  ];
  return names.length === 0 ? null : joined(names);
}

/** Whom the subject of an event is. */
const member = ({ person, subject, data }: Told) => person(subject) ?? nameIn(data) ?? 'a member';

const HEALTH: Record<string, string> = {
  working: 'works',
  failing: 'does not work',
};

const SENTENCES: Record<string, Words> = {
  'alert.opened': ({ it }) => `Alert${it} opened`,
  'alert.resolved': ({ it }) => `Alert${it} resolved`,
  'alert.acknowledged': ({ who, it }) => `${who} acknowledged the alert${it}`,
  'alert.muted': ({ who, it }) => `${who} muted the alert${it}`,
  'alert.unmuted': ({ who, it }) => `${who} unmuted the alert${it}`,
  'alert.rule_saved': ({ who, it }) => `${who} saved the alert rule${it}`,
  'alert.rule_deleted': ({ who }) => `${who} deleted an alert rule`,
  'budget.saved': ({ who }) => `${who} saved a budget`,
  'budget.deleted': ({ who }) => `${who} deleted a budget`,
  'hold.placed': ({ who, it }) => `${who} placed the legal hold${it}`,
  'hold.lifted': ({ who, it }) => `${who} lifted the legal hold${it}`,
  'network.changed': ({ who, data }) =>
    `${who} changed the network policy of the ${textIn(data, 'level')}`,
  'retention.changed': ({ who }) => `${who} changed how long records are kept`,
  'retention.applied': () => 'Steward deleted records that were past their time',
  'project.created': ({ who, it }) => `${who} created the project${it}`,
  'project.updated': ({ who, it }) => `${who} renamed the project to${it}`,
  'project.deleted': ({ who }) => `${who} deleted the project`,
  'project.restored': ({ who }) => `${who} restored the project`,
  'member.changed': (told) =>
    told.isKnown && told.data.by !== told.subject
      ? `${told.who} gave ${member(told)} the role ${textIn(told.data, 'role')}`
      : `${member(told)} is now ${textIn(told.data, 'role') || 'a member'}`,
  'member.removed': (told) =>
    told.data.by === told.subject
      ? `${member(told)} left the project`
      : `${told.who} removed ${member(told)}`,
  'invitation.created': ({ who, data }) => `${who} invited someone${asRole(data)}`,
  'invitation.accepted': ({ who }) => `${who} accepted an invitation`,
  'link.created': ({ who, data }) => `${who} made a link to ${linkTo(data)}`,
  'link.used': ({ data }) => `Someone used a link to ${linkTo(data)}`,
  'link.revoked': ({ who, data }) => `${who} revoked a link to ${linkTo(data)}`,
  'invitation.revoked': ({ who }) => `${who} revoked an invitation`,
  'sign_on.provider_saved': ({ who, it }) => `${who} saved the sign-on provider${it}`,
  'sign_on.provider_deleted': ({ who, it }) => `${who} deleted the sign-on provider${it}`,
  'sign_on.signed_in': (told) => `${member(told)} signed in with${named(told.data, 'provider')}`,
  'sign_on.refused': ({ data }) =>
    `Sign-in with${named(data, 'provider')} refused (${textIn(data, 'reason')})`,
  'sign_on.account_joined': (told) =>
    `Account of ${member(told)} joined to${named(told.data, 'provider')}`,
  'sign_on.signed_out': (told) =>
    `Provider${named(told.data, 'provider')} signed ${member(told)} out`,
  'passkey.added': ({ who, data }) => `${who} added the passkey${named(data, 'passkey')}`,
  'passkey.removed': (told) =>
    told.data.by === undefined
      ? `Passkey${named(told.data, 'passkey')} of ${member(told)} removed`
      : `${told.who} removed the passkey${named(told.data, 'passkey')}`,
  'passkey.signed_in': (told) =>
    `${member(told)} signed in with the passkey${named(told.data, 'passkey')}`,
  'passkey.refused': (told) =>
    `Passkey${named(told.data, 'passkey')} of ${member(told)} refused (${textIn(told.data, 'reason')})`,
  'second_step.changed': ({ who, data }) =>
    `${who} ${data.required ? 'required' : 'no longer requires'} two-step sign-in`,
  'audit.exported': ({ who, data }) =>
    `${who} exported the event log as ${data.format === 'cef' ? 'CEF' : 'JSON lines'}`,
  'client.allowed': ({ who, it, data }) => `${who} allowed the program${it} to act${asRole(data)}`,
  'client.removed': ({ who, it }) => `${who} disconnected the program${it}`,
  'client.replayed': ({ it }) => `Program${it} disconnected: a used code or token came again`,
  'directory.saved': ({ who, it }) => `${who} saved the directory${it}`,
  'directory.token_renewed': ({ who, it }) => `${who} renewed the token of the directory${it}`,
  'directory.deleted': ({ who, it }) => `${who} deleted the directory${it}`,
  'directory.person_added': (told) => `A directory added or enabled ${member(told)}`,
  'directory.person_removed': (told) => `A directory removed or disabled ${member(told)}`,
  'token.created': ({ who, it, data }) => `${who} created the API token${it}${asRole(data)}`,
  'token.revoked': ({ who, it }) => `${who} revoked the API token${it}`,
  'token.restored': ({ who, it }) => `${who} restored the API token${it}`,
  'secret.changed': ({ who, it }) => `${who} set the secret${it}`,
  'secret.deleted': ({ who, it }) => `${who} deleted the secret${it}`,
  'secret.restored': ({ who, it }) => `${who} restored the secret${it}`,
  'models.changed': ({ who, data }) =>
    `${who} changed the models: ${textIn(data, 'what') || 'changed'}`,
  'skill.saved': ({ who, it, data }) =>
    `${who} saved version ${String(data.version)} of the skill${it}`,
  'skill.enabled': ({ who, it }) => `${who} switched the skill${it} on`,
  'skill.disabled': ({ who, it }) => `${who} switched the skill${it} off`,
  'skill.deleted': ({ who, it }) => `${who} deleted the skill${it}`,
  'skill.restored': ({ who, it }) => `${who} restored the skill${it}`,
  'plugin.installed': ({ who, it, data }) =>
    `${who} installed the plug-in${it} ${textIn(data, 'version')}`,
  'plugin.enabled': ({ who, it }) => `${who} enabled the plug-in${it}`,
  'plugin.disabled': ({ who, it }) => `${who} disabled the plug-in${it}`,
  'plugin.removed': ({ who, it }) => `${who} removed the plug-in${it}`,
  'agent.saved': ({ who, it, data }) =>
    `${who} saved version ${String(data.version)} of the agent${it}`,
  'agent.archived': ({ who, it }) => `${who} archived the agent${it}`,
  'agent.remembered': ({ it }) => `Agent${it} kept a note`,
  'agent.notes_deleted': ({ who, it, data }) => `${who} deleted ${notes(data)} of the agent${it}`,
  'agent.notes_restored': ({ who, it, data }) => `${who} restored ${notes(data)} of the agent${it}`,
  'definitions.changed': ({ who }) => `${who} changed the definitions`,
  'evaluation.kept': ({ who }) => `${who} kept the report of an evaluation`,
  'evaluation.deleted': ({ who }) => `${who} deleted the report of an evaluation`,
  'evaluation.restored': ({ who }) => `${who} restored the report of an evaluation`,
  'service.installed': ({ who, it }) => `${who} installed the service${it} from the catalogue`,
  'service.updated': ({ who, it }) => `${who} updated the service${it}`,
  'service.removed': ({ who, it }) => `${who} removed the service${it}`,
  'service.operation_offered': ({ who, it, data }) =>
    data.offered
      ? `${who} offered the operation${named(data, 'operation')} of${it} to agents`
      : `${who} withdrew the operation${named(data, 'operation')} of${it} from agents`,
  'service.operation_roles_confirmed': ({ who, it, data }) =>
    `${who} confirmed the roles of the arguments of${named(data, 'operation')} of${it}`,
  'service.operation_risk_set': ({ who, it, data }) =>
    `${who} set the risk of${named(data, 'operation')} of${it} ${risk(data, 'its verb')}`,
  'connection.created': ({ who, it }) => `${who} made the connection${it}`,
  'connection.changed': ({ who, it }) => `${who} changed the connection${it}`,
  'connection.deleted': ({ who, it }) => `${who} deleted the connection${it}`,
  'connection.restored': ({ who, it }) => `${who} restored the connection${it}`,
  'connection.health': ({ it, data }) =>
    `Connection${it} ${HEALTH[textIn(data, 'state')] ?? `is ${textIn(data, 'state')}`}`,
  'connection.program_accepted': ({ who, it }) =>
    `${who} accepted the program of the connection${it}`,
  'connection.proposal_dismissed': ({ who, data }) =>
    `${who} dismissed a proposed connection${named(data, 'kind')}`,
  'connection.proposal_brought_back': ({ who }) => `${who} brought a proposed connection back`,
  'connection.tool_risk_set': ({ who, it, data }) =>
    `${who} set the risk of the tool${named(data, 'tool')} of${it} ${risk(data, 'the server’s hints')}`,
  'connection.tool_roles_confirmed': ({ who, it, data }) =>
    `${who} confirmed the roles of the arguments of the tool${named(data, 'tool')} of${it}`,
  'connection.tool_withdrawn': ({ who, it, data }) =>
    `${who} stopped accepting the tool${named(data, 'tool')} of${it}`,
  'connection.tools_accepted': ({ who, it, data }) =>
    `${who} accepted tools of${it}${listed(data.tools)}`,
  'connection.tools_changed': ({ it, data }) =>
    `The server of${it} changed accepted tools${listed(data.tools)}`,
  'playbook.created': ({ who, it }) => `${who} created the playbook${it}`,
  'playbook.saved': ({ who, it, data }) =>
    `${who} saved revision ${String(data.revision)} of the playbook${it}`,
  'playbook.redrawn': ({ who, it }) =>
    `${who} changed the comments or the layout of the playbook${it}`,
  'playbook.shared': (told) => {
    const people = sharedWith(told);
    return people === null
      ? `${told.who} made the playbook${told.it} private`
      : `${told.who} shared the playbook${told.it} with ${people}`;
  },
  'playbook.deployed': ({ who, it, data }) =>
    `${who} deployed revision ${String(data.revision)} of the playbook${it}`,
  'playbook.tried': ({ who, it }) =>
    `${who} changed which version of the playbook${it} is on trial`,
  'playbook.changed': ({ who, it, data }) =>
    data.state === 'archived'
      ? `${who} archived the playbook${it}`
      : `${who} took the playbook${it} out of the archive`,
  'playbook.deleted': ({ who, it }) => `${who} deleted the playbook${it}`,
  'playbook.restored': ({ who, it }) => `${who} restored the playbook${it}`,
  'schedule.created': ({ who, it }) => `${who} made the schedule${it}`,
  'schedule.changed': ({ who, it }) => `${who} changed the schedule${it}`,
  'schedule.deleted': ({ who, it }) => `${who} deleted the schedule${it}`,
  'schedule.missed': ({ it, data }) =>
    `Schedule${it} missed ${String(data.missed)} times and asks what to do`,
  'schedule.decided': ({ who, it, data }) =>
    data.run === true
      ? `${who} ran the schedule${it} once for the times it missed`
      : `${who} skipped the times that the schedule${it} missed`,
  'trigger.switched': ({ who, data }) =>
    `${who} ${data.enabled === true ? 'switched on' : 'paused'} the trigger${named(data, 'trigger')}`,
  'trigger.failing': ({ data }) => `Trigger${named(data, 'trigger')} cannot reach its source`,
  'trigger.recovered': ({ data }) => `Trigger${named(data, 'trigger')} works again`,
  'trigger.silent': ({ data }) => `Trigger${named(data, 'trigger')} has had no event for too long`,
  'trigger.dead_letter': ({ data }) =>
    `An event of the trigger${named(data, 'trigger')} could not start a run`,
  'trigger.held': ({ data }) => `Trigger${named(data, 'trigger')} asks whether to run`,
  'trigger.replayed': ({ who, data }) =>
    `${who} ran ${String(data.events)} events of the trigger${named(data, 'trigger')} again`,
  'trigger.dropped': ({ who, data }) =>
    `${who} dropped ${String(data.events)} events of the trigger${named(data, 'trigger')}`,
  'trigger.address_changed': ({ who, data }) =>
    `${who} gave the trigger${named(data, 'trigger')} new addresses`,
  'thread.created': ({ who }) => `${who} started a conversation`,
  'thread.changed': ({ who }) => `${who} changed a conversation`,
  'thread.deleted': ({ who }) => `${who} deleted a conversation`,
  'thread.restored': ({ who }) => `${who} restored a conversation`,
  'notification.created': ({ person, data }) =>
    `Steward notified ${person(data.user) ?? 'someone'}`,
  'data.committed': describeCommit,
  'run.queued': ({ who, isKnown, data }) =>
    isKnown
      ? `${who} started the run${named(data, 'title')}`
      : `Run${named(data, 'title')} started`,
  'run.running': ({ data }) => `Run${named(data, 'title')} is running`,
  'run.blocked': ({ data }) => `Run${named(data, 'title')} is waiting for an answer`,
  'run.waiting_for_approval': ({ data }) => `Run${named(data, 'title')} is waiting for approval`,
  'run.reviewing': ({ data }) => `Run${named(data, 'title')} is being reviewed`,
  'run.done': ({ data }) => `Run${named(data, 'title')} finished`,
  'run.failed': ({ data }) => `Run${named(data, 'title')} failed`,
  'run.cancelled': ({ data }) => `Run${named(data, 'title')} was cancelled`,
  'run.pause_asked': ({ who, it }) => `${who} paused the run${it}`,
  'run.resume_asked': ({ who, it }) => `${who} resumed the run${it}`,
  'run.cancel_asked': ({ who, it }) => `${who} cancelled the run${it}`,
  'run.brought_in': ({ who, isKnown, data }) =>
    isKnown
      ? `${who} imported the run${named(data, 'title')}`
      : `Run${named(data, 'title')} imported from a file`,
  'run.undo_done': ({ who, it, data }) => `${who} undid${step(data)} of the run${it}`,
  'run.undo_failed': ({ who, it, data }) => `${who} could not undo${step(data)} of the run${it}`,
  'run.redo_done': ({ who, it, data }) => `${who} redid${step(data)} of the run${it}`,
  'run.redo_failed': ({ who, it, data }) => `${who} could not redo${step(data)} of the run${it}`,
  'approval.requested': ({ data }) => `Approval requested${named(data, 'title')}`,
  'approval.approved': ({ who, data }) => `${who} approved${named(data, 'title')}`,
  'approval.rejected': ({ who, data }) => `${who} rejected${named(data, 'title')}`,
  'approval.edited': ({ who, data }) =>
    `${who} edited${named(data, 'title')}; someone else must approve it`,
  'approval.mismatched': ({ data }) =>
    `Steward refused${named(data, 'title')}: it is not what was approved`,
  'approval.delegated': ({ who, data, person }) =>
    `${who} passed the approval${named(data, 'title')} on to ${person(data.to) ?? 'someone else'}`,
  'approvers.changed': ({ who, subject }) => `${who} changed the approvers “${subject}”`,
  'approvers.deleted': ({ who, subject }) => `${who} deleted the approvers “${subject}”`,
  'policy.changed': ({ who }) => `${who} changed the policy`,
  'settings.changed': ({ who, data }) =>
    typeof data.safe_mode === 'boolean'
      ? `${who} switched safe mode ${data.safe_mode ? 'on' : 'off'}`
      : `${who} changed the settings of tools`,
};

const notes = (data: Data) => (data.notes === 1 ? '1 note' : `${String(data.notes)} notes`);

const step = (data: Data) => ` the step${named(data, 'key')}`;

/** A risk that a person chose, or the one that Steward reads from elsewhere. */
function risk(data: Data, otherwise: string): string {
  return typeof data.risk === 'string'
    ? `to ${data.risk.replaceAll('_', ' ')}`
    : `back to that of ${otherwise}`;
}

/** What people call an operation on data when they tell of it. */
const DONE: Record<string, string> = {
  clean: 'cleaned',
  drop_duplicates: 'removed duplicates from',
  edit: 'edited',
  edit_file: 'edited',
  execute_query_plan: 'calculated',
  ingest: 'loaded',
  join: 'joined',
  merge: 'merged',
  redact: 'redacted',
  redo: 'redid a change to',
  render_xlsx: 'wrote the workbook',
  report: 'wrote the report',
  resolve: 'matched records in',
  restore: 'restored',
  retype: 'changed column types of',
  undo: 'undid a change to',
  union: 'combined',
};

/** What was done and to what. */
function describeCommit({ who, isKnown, data }: Told): string {
  const { operation, datasets, files, branch } = data;
  const names = [datasets, files].flatMap((list): string[] =>
    Array.isArray(list) ? list.map((name) => `“${String(name)}”`) : [],
  );
  const where = typeof branch === 'string' && branch !== 'main' ? `, on branch “${branch}”` : '';
  const of = names.length > 0 ? joined(names) : 'data';
  const done = typeof operation === 'string' ? DONE[operation] : undefined;
  const how = typeof operation === 'string' ? ` (${operationName(operation).toLowerCase()})` : '';
  const what = done === undefined ? `changed ${of}${how}` : `${done} ${of}`;
  return `${isKnown ? who : 'Steward'} ${what}${where}`;
}

/** `org.steward.member.changed` is a member.changed. */
export function eventKind(type: string): string {
  return type.replace(/^org\.steward\./, '');
}

/** A sentence for an event; one that is not known yet still reads as words. */
export function describeEvent({ type, data, subject, who, names }: NamedEvent): string {
  const kind = eventKind(type);
  const sentence = SENTENCES[kind];
  const name = names[subject];
  const told: Told = {
    who: who ?? 'Someone',
    isKnown: who !== null,
    it: name === undefined ? named(data) : ` “${name}”`,
    data,
    subject,
    person: (id) => names[String(id)] ?? null,
  };
  if (sentence) return sentence(told);
  const words = kind.replaceAll(/[._]/g, ' ');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}${named(data)}`;
}

/** What tells one person something is no part of the project's story. */
export function isStory({ type }: Pick<EventRecord, 'type'>): boolean {
  const kind = eventKind(type);
  // Each run says that it started, waits and ended; that it goes on is no news.
  if (kind === 'run.running') return false;
  return !kind.startsWith('notification.');
}
