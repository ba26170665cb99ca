/** Events as sentences: who did what to what, with names in place of ids. */
import { plural, t } from '@lingui/core/macro';
import { insideSentence } from '@/language';
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
  data.kind === 'upload' ? t`send a file for${named(data)}` : `fetch${named(data)}`;
const asRole = (data: Data) => (typeof data.role === 'string' ? t` as ${data.role}` : '');
const textIn = (data: Data, key: string) => {
  const value = data[key];
  return typeof value === 'string' ? value : '';
};

/** "a, b and c"; a long list is cut. */
function joined(names: readonly string[]): string {
  const more = names.length - NAMES_SHOWN;
  const shown = more > 0 ? [...names.slice(0, NAMES_SHOWN), t`${more} more`] : [...names];
  const last = shown.pop() ?? '';
  return shown.length === 0 ? last : t`${shown.join(', ')} and ${last}`;
}

function listed(names: unknown): string {
  if (!Array.isArray(names) || names.length === 0) return '';
  return `: ${joined(names.map((name) => `“${String(name)}”`))}`;
}

/** With whom a playbook is shared from then on. */
function sharedWith({ data, person }: Told): string | null {
  const allowed = (data.allowed ?? {}) as { everyone?: boolean; users?: unknown; groups?: unknown };
  if (allowed.everyone === true) return t`everyone in the project`;
  const users = Array.isArray(allowed.users) ? allowed.users : [];
  const groups = Array.isArray(allowed.groups) ? allowed.groups : [];
  const names = [
    ...users.map((id) => person(id) ?? t`someone who left`),
    ...groups.map((group) => t`the group “${String(group)}”`),
  ];
  return names.length === 0 ? null : joined(names);
}

/** Whom the subject of an event is. */
const member = ({ person, subject, data }: Told) => person(subject) ?? nameIn(data) ?? t`a member`;

const HEALTH: Record<string, string> = {
  working: t`works`,
  failing: t`does not work`,
};

const SENTENCES: Record<string, Words> = {
  'alert.opened': ({ it }) => t`Alert${it} opened`,
  'alert.resolved': ({ it }) => t`Alert${it} resolved`,
  'alert.acknowledged': ({ who, it }) => t`${who} acknowledged the alert${it}`,
  'alert.muted': ({ who, it }) => t`${who} muted the alert${it}`,
  'alert.unmuted': ({ who, it }) => t`${who} unmuted the alert${it}`,
  'alert.rule_saved': ({ who, it }) => t`${who} saved the alert rule${it}`,
  'alert.rule_deleted': ({ who }) => t`${who} deleted an alert rule`,
  'budget.saved': ({ who }) => t`${who} saved a budget`,
  'budget.deleted': ({ who }) => t`${who} deleted a budget`,
  'hold.placed': ({ who, it }) => t`${who} placed the legal hold${it}`,
  'hold.lifted': ({ who, it }) => t`${who} lifted the legal hold${it}`,
  'network.changed': ({ who, data }) =>
    t`${who} changed the network policy of the ${textIn(data, 'level')}`,
  'retention.changed': ({ who }) => t`${who} changed how long records are kept`,
  'retention.applied': () => t`Steward deleted records that were past their time`,
  'project.created': ({ who, it }) => t`${who} created the project${it}`,
  'project.updated': ({ who, it }) => t`${who} renamed the project to${it}`,
  'project.deleted': ({ who }) => t`${who} deleted the project`,
  'project.restored': ({ who }) => t`${who} restored the project`,
  'member.changed': (told) =>
    told.isKnown && told.data.by !== told.subject
      ? t`${told.who} gave ${member(told)} the role ${textIn(told.data, 'role')}`
      : t`${member(told)} is now ${textIn(told.data, 'role') || t`a member`}`,
  'member.removed': (told) =>
    told.data.by === told.subject
      ? t`${member(told)} left the project`
      : t`${told.who} removed ${member(told)}`,
  'invitation.created': ({ who, data }) => t`${who} invited someone${asRole(data)}`,
  'invitation.accepted': ({ who }) => t`${who} accepted an invitation`,
  'link.created': ({ who, data }) => t`${who} made a link to ${linkTo(data)}`,
  'link.used': ({ data }) => t`Someone used a link to ${linkTo(data)}`,
  'link.revoked': ({ who, data }) => t`${who} revoked a link to ${linkTo(data)}`,
  'invitation.revoked': ({ who }) => t`${who} revoked an invitation`,
  'sign_on.provider_saved': ({ who, it }) => t`${who} saved the sign-on provider${it}`,
  'sign_on.provider_deleted': ({ who, it }) => t`${who} deleted the sign-on provider${it}`,
  'sign_on.signed_in': (told) => t`${member(told)} signed in with${named(told.data, 'provider')}`,
  'sign_on.refused': ({ data }) =>
    t`Sign-in with${named(data, 'provider')} refused (${textIn(data, 'reason')})`,
  'sign_on.account_joined': (told) =>
    t`Account of ${member(told)} joined to${named(told.data, 'provider')}`,
  'sign_on.signed_out': (told) =>
    t`Provider${named(told.data, 'provider')} signed ${member(told)} out`,
  'passkey.added': ({ who, data }) => t`${who} added the passkey${named(data, 'passkey')}`,
  'passkey.removed': (told) =>
    told.data.by === undefined
      ? t`Passkey${named(told.data, 'passkey')} of ${member(told)} removed`
      : t`${told.who} removed the passkey${named(told.data, 'passkey')}`,
  'passkey.signed_in': (told) =>
    t`${member(told)} signed in with the passkey${named(told.data, 'passkey')}`,
  'passkey.refused': (told) =>
    t`Passkey${named(told.data, 'passkey')} of ${member(told)} refused (${textIn(told.data, 'reason')})`,
  'second_step.changed': ({ who, data }) =>
    data.required
      ? t`${who} required two-step sign-in`
      : t`${who} no longer requires two-step sign-in`,
  'audit.exported': ({ who, data }) =>
    data.format === 'cef'
      ? t`${who} exported the event log as CEF`
      : t`${who} exported the event log as JSON lines`,
  'client.allowed': ({ who, it, data }) => t`${who} allowed the program${it} to act${asRole(data)}`,
  'client.removed': ({ who, it }) => t`${who} disconnected the program${it}`,
  'client.replayed': ({ it }) => t`Program${it} disconnected: a used code or token came again`,
  'directory.saved': ({ who, it }) => t`${who} saved the directory${it}`,
  'directory.token_renewed': ({ who, it }) => t`${who} renewed the token of the directory${it}`,
  'directory.deleted': ({ who, it }) => t`${who} deleted the directory${it}`,
  'directory.person_added': (told) => t`A directory added or enabled ${member(told)}`,
  'directory.person_removed': (told) => t`A directory removed or disabled ${member(told)}`,
  'token.created': ({ who, it, data }) => t`${who} created the API token${it}${asRole(data)}`,
  'token.revoked': ({ who, it }) => t`${who} revoked the API token${it}`,
  'token.restored': ({ who, it }) => t`${who} restored the API token${it}`,
  'secret.changed': ({ who, it }) => t`${who} set the secret${it}`,
  'secret.deleted': ({ who, it }) => t`${who} deleted the secret${it}`,
  'secret.restored': ({ who, it }) => t`${who} restored the secret${it}`,
  'models.changed': ({ who, data }) =>
    t`${who} changed the models: ${textIn(data, 'what') || t`changed`}`,
  'skill.saved': ({ who, it, data }) =>
    t`${who} saved version ${String(data.version)} of the skill${it}`,
  'skill.enabled': ({ who, it }) => t`${who} switched the skill${it} on`,
  'skill.disabled': ({ who, it }) => t`${who} switched the skill${it} off`,
  'skill.deleted': ({ who, it }) => t`${who} deleted the skill${it}`,
  'skill.restored': ({ who, it }) => t`${who} restored the skill${it}`,
  'plugin.installed': ({ who, it, data }) =>
    t`${who} installed the plug-in${it} ${textIn(data, 'version')}`,
  'plugin.enabled': ({ who, it }) => t`${who} enabled the plug-in${it}`,
  'plugin.disabled': ({ who, it }) => t`${who} disabled the plug-in${it}`,
  'plugin.removed': ({ who, it }) => t`${who} removed the plug-in${it}`,
  'agent.saved': ({ who, it, data }) =>
    t`${who} saved version ${String(data.version)} of the agent${it}`,
  'agent.archived': ({ who, it }) => t`${who} archived the agent${it}`,
  'agent.remembered': ({ it }) => t`Agent${it} kept a note`,
  'agent.notes_deleted': ({ who, it, data }) => t`${who} deleted ${notes(data)} of the agent${it}`,
  'agent.notes_restored': ({ who, it, data }) =>
    t`${who} restored ${notes(data)} of the agent${it}`,
  'definitions.changed': ({ who }) => t`${who} changed the definitions`,
  'evaluation.kept': ({ who }) => t`${who} kept the report of an evaluation`,
  'evaluation.deleted': ({ who }) => t`${who} deleted the report of an evaluation`,
  'evaluation.restored': ({ who }) => t`${who} restored the report of an evaluation`,
  'service.installed': ({ who, it }) => t`${who} installed the service${it} from the catalogue`,
  'service.updated': ({ who, it }) => t`${who} updated the service${it}`,
  'service.removed': ({ who, it }) => t`${who} removed the service${it}`,
  'service.operation_offered': ({ who, it, data }) =>
    data.offered
      ? t`${who} offered the operation${named(data, 'operation')} of${it} to agents`
      : t`${who} withdrew the operation${named(data, 'operation')} of${it} from agents`,
  'service.operation_roles_confirmed': ({ who, it, data }) =>
    t`${who} confirmed the roles of the arguments of${named(data, 'operation')} of${it}`,
  'service.operation_risk_set': ({ who, it, data }) =>
    t`${who} set the risk of${named(data, 'operation')} of${it} ${risk(data, t`its verb`)}`,
  'connection.created': ({ who, it }) => t`${who} made the connection${it}`,
  'connection.changed': ({ who, it }) => t`${who} changed the connection${it}`,
  'connection.deleted': ({ who, it }) => t`${who} deleted the connection${it}`,
  'connection.restored': ({ who, it }) => t`${who} restored the connection${it}`,
  'connection.health': ({ it, data }) =>
    t`Connection${it} ${HEALTH[textIn(data, 'state')] ?? t`is ${textIn(data, 'state')}`}`,
  'connection.program_accepted': ({ who, it }) =>
    t`${who} accepted the program of the connection${it}`,
  'connection.proposal_dismissed': ({ who, data }) =>
    t`${who} dismissed a proposed connection${named(data, 'kind')}`,
  'connection.proposal_brought_back': ({ who }) => t`${who} brought a proposed connection back`,
  'connection.tool_risk_set': ({ who, it, data }) =>
    t`${who} set the risk of the tool${named(data, 'tool')} of${it} ${risk(data, t`the server’s hints`)}`,
  'connection.tool_roles_confirmed': ({ who, it, data }) =>
    t`${who} confirmed the roles of the arguments of the tool${named(data, 'tool')} of${it}`,
  'connection.tool_withdrawn': ({ who, it, data }) =>
    t`${who} stopped accepting the tool${named(data, 'tool')} of${it}`,
  'connection.tools_accepted': ({ who, it, data }) =>
    t`${who} accepted tools of${it}${listed(data.tools)}`,
  'connection.tools_changed': ({ it, data }) =>
    t`The server of${it} changed accepted tools${listed(data.tools)}`,
  'playbook.created': ({ who, it }) => t`${who} created the playbook${it}`,
  'playbook.saved': ({ who, it, data }) =>
    t`${who} saved revision ${String(data.revision)} of the playbook${it}`,
  'playbook.redrawn': ({ who, it }) =>
    t`${who} changed the comments or the layout of the playbook${it}`,
  'playbook.shared': (told) => {
    const people = sharedWith(told);
    return people === null
      ? t`${told.who} made the playbook${told.it} private`
      : t`${told.who} shared the playbook${told.it} with ${people}`;
  },
  'playbook.deployed': ({ who, it, data }) =>
    t`${who} deployed revision ${String(data.revision)} of the playbook${it}`,
  'playbook.tried': ({ who, it }) =>
    t`${who} changed which version of the playbook${it} is on trial`,
  'playbook.changed': ({ who, it, data }) =>
    data.state === 'archived'
      ? t`${who} archived the playbook${it}`
      : t`${who} took the playbook${it} out of the archive`,
  'playbook.deleted': ({ who, it }) => t`${who} deleted the playbook${it}`,
  'playbook.restored': ({ who, it }) => t`${who} restored the playbook${it}`,
  'schedule.created': ({ who, it }) => t`${who} made the schedule${it}`,
  'schedule.changed': ({ who, it }) => t`${who} changed the schedule${it}`,
  'schedule.deleted': ({ who, it }) => t`${who} deleted the schedule${it}`,
  'schedule.missed': ({ it, data }) =>
    t`Schedule${it} missed ${String(data.missed)} times and asks what to do`,
  'schedule.decided': ({ who, it, data }) =>
    data.run === true
      ? t`${who} ran the schedule${it} once for the times it missed`
      : t`${who} skipped the times that the schedule${it} missed`,
  'trigger.switched': ({ who, data }) =>
    data.enabled === true
      ? t`${who} switched on the trigger${named(data, 'trigger')}`
      : t`${who} paused the trigger${named(data, 'trigger')}`,
  'trigger.failing': ({ data }) => t`Trigger${named(data, 'trigger')} cannot reach its source`,
  'trigger.recovered': ({ data }) => t`Trigger${named(data, 'trigger')} works again`,
  'trigger.silent': ({ data }) => t`Trigger${named(data, 'trigger')} has had no event for too long`,
  'trigger.dead_letter': ({ data }) =>
    t`An event of the trigger${named(data, 'trigger')} could not start a run`,
  'trigger.held': ({ data }) => t`Trigger${named(data, 'trigger')} asks whether to run`,
  'trigger.replayed': ({ who, data }) =>
    t`${who} ran ${String(data.events)} events of the trigger${named(data, 'trigger')} again`,
  'trigger.dropped': ({ who, data }) =>
    t`${who} dropped ${String(data.events)} events of the trigger${named(data, 'trigger')}`,
  'trigger.address_changed': ({ who, data }) =>
    t`${who} gave the trigger${named(data, 'trigger')} new addresses`,
  'thread.created': ({ who }) => t`${who} started a conversation`,
  'thread.changed': ({ who }) => t`${who} changed a conversation`,
  'thread.deleted': ({ who }) => t`${who} deleted a conversation`,
  'thread.restored': ({ who }) => t`${who} restored a conversation`,
  'notification.created': ({ person, data }) =>
    t`Steward notified ${person(data.user) ?? 'someone'}`,
  'data.committed': describeCommit,
  'run.queued': ({ who, isKnown, data }) =>
    isKnown
      ? t`${who} started the run${named(data, 'title')}`
      : t`Run${named(data, 'title')} started`,
  'run.running': ({ data }) => t`Run${named(data, 'title')} is running`,
  'run.blocked': ({ data }) => t`Run${named(data, 'title')} is waiting for an answer`,
  'run.waiting_for_approval': ({ data }) => t`Run${named(data, 'title')} is waiting for approval`,
  'run.reviewing': ({ data }) => t`Run${named(data, 'title')} is being reviewed`,
  'run.done': ({ data }) => t`Run${named(data, 'title')} finished`,
  'run.failed': ({ data }) => t`Run${named(data, 'title')} failed`,
  'run.cancelled': ({ data }) => t`Run${named(data, 'title')} was cancelled`,
  'run.pause_asked': ({ who, it }) => t`${who} paused the run${it}`,
  'run.resume_asked': ({ who, it }) => t`${who} resumed the run${it}`,
  'run.cancel_asked': ({ who, it }) => t`${who} cancelled the run${it}`,
  'run.brought_in': ({ who, isKnown, data }) =>
    isKnown
      ? t`${who} imported the run${named(data, 'title')}`
      : t`Run${named(data, 'title')} imported from a file`,
  'run.undo_done': ({ who, it, data }) => t`${who} undid${step(data)} of the run${it}`,
  'run.undo_failed': ({ who, it, data }) => t`${who} could not undo${step(data)} of the run${it}`,
  'run.redo_done': ({ who, it, data }) => t`${who} redid${step(data)} of the run${it}`,
  'run.redo_failed': ({ who, it, data }) => t`${who} could not redo${step(data)} of the run${it}`,
  'approval.requested': ({ data }) => t`Approval requested${named(data, 'title')}`,
  'approval.approved': ({ who, data }) => t`${who} approved${named(data, 'title')}`,
  'approval.rejected': ({ who, data }) => t`${who} rejected${named(data, 'title')}`,
  'approval.edited': ({ who, data }) =>
    t`${who} edited${named(data, 'title')}; someone else must approve it`,
  'approval.mismatched': ({ data }) =>
    t`Steward refused${named(data, 'title')}: it is not what was approved`,
  'approval.delegated': ({ who, data, person }) =>
    t`${who} passed the approval${named(data, 'title')} on to ${person(data.to) ?? t`someone else`}`,
  'approvers.changed': ({ who, subject }) => t`${who} changed the approvers “${subject}”`,
  'approvers.deleted': ({ who, subject }) => t`${who} deleted the approvers “${subject}”`,
  'policy.changed': ({ who }) => t`${who} changed the policy`,
  'settings.changed': ({ who, data }) =>
    typeof data.safe_mode === 'boolean'
      ? data.safe_mode
        ? t`${who} switched safe mode on`
        : t`${who} switched safe mode off`
      : t`${who} changed the settings of tools`,
};

const notes = (data: Data) =>
  plural(Number(data.notes), { one: `1 note`, other: `${String(data.notes)} notes` });

const step = (data: Data) => t` the step${named(data, 'key')}`;

/** A risk that a person chose, or the one that Steward reads from elsewhere. */
function risk(data: Data, otherwise: string): string {
  return typeof data.risk === 'string'
    ? t`to ${data.risk.replaceAll('_', ' ')}`
    : t`back to that of ${otherwise}`;
}

/** What people call an operation on data when they tell of it. */
const DONE: Record<string, string> = {
  clean: t`cleaned`,
  drop_duplicates: t`removed duplicates from`,
  edit: t`edited`,
  edit_file: t`edited`,
  execute_query_plan: t`calculated`,
  ingest: t`loaded`,
  join: t`joined`,
  merge: t`merged`,
  redact: t`redacted`,
  redo: t`redid a change to`,
  render_xlsx: t`wrote the workbook`,
  report: t`wrote the report`,
  resolve: t`matched records in`,
  restore: t`restored`,
  retype: t`changed column types of`,
  undo: t`undid a change to`,
  union: t`combined`,
};

/** What was done and to what. */
function describeCommit({ who, isKnown, data }: Told): string {
  const { operation, datasets, files, branch } = data;
  const names = [datasets, files].flatMap((list): string[] =>
    Array.isArray(list) ? list.map((name) => `“${String(name)}”`) : [],
  );
  const where = typeof branch === 'string' && branch !== 'main' ? t`, on branch “${branch}”` : '';
  const of = names.length > 0 ? joined(names) : t`data`;
  const done = typeof operation === 'string' ? DONE[operation] : undefined;
  const how = typeof operation === 'string' ? ` (${insideSentence(operationName(operation))})` : '';
  const what = done === undefined ? t`changed ${of}${how}` : `${done} ${of}`;
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
    who: who ?? t`Someone`,
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
