/** Events in words. */
import type { EventRecord } from '@/api/types';
import { operationName } from './operation-name';

const NAMES_SHOWN = 3;

/** Who a user id stands for; null when that is not known any more. */
type NameOf = (userId: string) => string | null;

type Words = (data: Record<string, unknown>, person: string | null, subject: string) => string;

const named = (data: Record<string, unknown>, key = 'name') => {
  const value = data[key];
  return typeof value === 'string' && value !== '' ? ` “${value}”` : '';
};
const nameIn = (data: Record<string, unknown>) =>
  typeof data.name === 'string' ? data.name : null;
const asRole = (data: Record<string, unknown>) =>
  typeof data.role === 'string' ? ` as ${data.role}` : '';

/** A long list is cut. */
function listed(names: unknown): string {
  if (!Array.isArray(names) || names.length === 0) return '';
  const shown = names.slice(0, NAMES_SHOWN).map((name) => `“${String(name)}”`);
  const more = names.length - shown.length;
  return `: ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

const HEALTH: Record<string, string> = {
  working: 'works',
  failing: 'does not work',
};

const SENTENCES: Record<string, Words> = {
  'alert.opened': () => 'Alert opened',
  'alert.resolved': () => 'Alert resolved',
  'alert.acknowledged': () => 'Alert acknowledged',
  'alert.muted': () => 'Alert muted',
  'alert.unmuted': () => 'Alert no longer muted',
  'alert.rule_saved': (data) => `Alert rule saved as revision ${String(data.revision)}`,
  'alert.rule_deleted': () => 'Alert rule deleted',
  'budget.saved': (data) => `Budget saved as revision ${String(data.revision)}`,
  'budget.deleted': () => 'Budget deleted',
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
  'sign_on.provider_saved': (data) =>
    `Sign-on provider${named(data)} saved as revision ${String(data.revision)}`,
  'sign_on.provider_deleted': (data) => `Sign-on provider${named(data)} deleted`,
  'sign_on.signed_in': (data, person) =>
    `${person ?? nameIn(data) ?? 'Someone'} signed in with${named(data, 'provider')}`,
  'sign_on.refused': (data) =>
    `Sign-in with${named(data, 'provider')} refused (${String(data.reason)})`,
  'sign_on.account_joined': (data, person) =>
    `Account of ${person ?? nameIn(data) ?? 'someone'} joined to${named(data, 'provider')}`,
  'sign_on.signed_out': (data, person) =>
    `${person ?? nameIn(data) ?? 'Someone'} signed out by${named(data, 'provider')}`,
  'audit.exported': (data, person) =>
    `${person ?? 'Someone'} exported the event log as ${data.format === 'cef' ? 'CEF' : 'JSON lines'}`,
  'client.allowed': (data) => `Program${named(data)} allowed to act${asRole(data)}`,
  'client.removed': (data) => `Program${named(data)} disconnected`,
  'client.replayed': (data) =>
    `Program${named(data)} disconnected: a used code or token came again`,
  'directory.saved': (data) => `Directory${named(data)} saved`,
  'directory.token_renewed': (data) => `Directory${named(data)} got a new token`,
  'directory.deleted': (data) => `Directory${named(data)} deleted`,
  'directory.person_added': (data) => `A directory added or enabled${named(data)}`,
  'directory.person_removed': (data) => `A directory removed or disabled${named(data)}`,
  'token.created': (data) => `API token${named(data)} created${asRole(data)}`,
  'token.revoked': () => 'API token revoked',
  'token.restored': () => 'API token restored',
  'secret.changed': (data) => `Secret${named(data)} set`,
  'secret.deleted': (data) => `Secret${named(data)} deleted`,
  'secret.restored': (data) => `Secret${named(data)} restored`,
  'models.changed': (data) => `Models: ${typeof data.what === 'string' ? data.what : 'changed'}`,
  'skill.saved': (data) => `Skill${named(data)} saved as version ${String(data.version)}`,
  'skill.enabled': (data) => `Skill${named(data)} switched on`,
  'skill.disabled': (data) => `Skill${named(data)} switched off`,
  'skill.deleted': (data) => `Skill${named(data)} deleted`,
  'skill.restored': (data) => `Skill${named(data)} restored`,
  'plugin.installed': (data) => `Plug-in${named(data)} ${String(data.version)} installed`,
  'plugin.enabled': (data) => `Plug-in${named(data)} enabled`,
  'plugin.disabled': (data) => `Plug-in${named(data)} disabled`,
  'plugin.removed': (data) => `Plug-in${named(data)} removed`,
  'agent.saved': (data) => `Agent${named(data)} saved as version ${String(data.version)}`,
  'agent.archived': (data) => `Agent${named(data)} archived`,
  'agent.remembered': (data) => `Agent${named(data)} kept a note`,
  'agent.notes_deleted': (data) => `Notes of agent${named(data)} deleted: ${String(data.notes)}`,
  'agent.notes_restored': (data) => `Notes of agent${named(data)} restored: ${String(data.notes)}`,
  'definitions.changed': () => 'Definitions changed',
  'evaluation.kept': () => 'Report of an evaluation kept',
  'evaluation.deleted': () => 'Report of an evaluation deleted',
  'evaluation.restored': () => 'Report of an evaluation restored',
  'service.installed': (data) => `Service${named(data)} installed from the catalogue`,
  'service.updated': (data) => `Service${named(data)} updated`,
  'service.removed': (data) => `Service${named(data)} removed`,
  'service.operation_offered': (data) =>
    `Operation${named(data, 'operation')} of${named(data)} ${data.offered ? 'offered to agents' : 'no longer offered'}`,
  'service.operation_roles_confirmed': (data) =>
    `Roles of the arguments of${named(data, 'operation')} of${named(data)} confirmed`,
  'service.operation_risk_set': (data) =>
    typeof data.risk === 'string'
      ? `Risk of${named(data, 'operation')} of${named(data)} set to ${data.risk.replaceAll('_', ' ')}`
      : `Risk of${named(data, 'operation')} of${named(data)} taken from its verb again`,
  'connection.created': (data) => `Connection${named(data)} made`,
  'connection.changed': (data) => `Connection${named(data)} changed`,
  'connection.deleted': (data) => `Connection${named(data)} deleted`,
  'connection.restored': (data) => `Connection${named(data)} restored`,
  'connection.health': (data) =>
    `Connection${named(data)} ${HEALTH[String(data.state)] ?? `is ${String(data.state)}`}`,
  'connection.program_accepted': (data) => `Program of the connection${named(data)} accepted`,
  'connection.proposal_dismissed': (data) => `Proposed connection${named(data, 'kind')} dismissed`,
  'connection.proposal_brought_back': () => 'Proposed connection shown again',
  'connection.tool_risk_set': (data) =>
    typeof data.risk === 'string'
      ? `Risk of the tool${named(data, 'tool')} of${named(data)} set to ${data.risk.replaceAll('_', ' ')}`
      : `Risk of the tool${named(data, 'tool')} of${named(data)} taken from the server’s hints again`,
  'connection.tool_roles_confirmed': (data) =>
    `Roles of the arguments of the tool${named(data, 'tool')} of${named(data)} confirmed`,
  'connection.tool_withdrawn': (data) =>
    `Tool${named(data, 'tool')} of${named(data)} no longer accepted`,
  'connection.tools_accepted': (data) => `Tools of${named(data)} accepted${listed(data.tools)}`,
  'connection.tools_changed': (data) =>
    `The server of${named(data)} changed accepted tools${listed(data.tools)}`,
  'playbook.created': () => 'Playbook written',
  'playbook.saved': (data) => `Playbook saved as revision ${String(data.revision)}`,
  'playbook.redrawn': () => 'Comments or layout of a playbook changed',
  'playbook.shared': () => 'Playbook shared with other people than before',
  'playbook.deployed': (data) => `Revision ${String(data.revision)} of a playbook deployed`,
  'playbook.tried': () => 'Trial of a playbook version changed',
  'playbook.changed': (data) =>
    data.state === 'archived' ? 'Playbook archived' : 'Playbook brought back from the archive',
  'playbook.deleted': () => 'Playbook deleted',
  'playbook.restored': () => 'Deleted playbook restored',
  'schedule.created': (data) => `Schedule${named(data)} made`,
  'schedule.changed': (data) => `Schedule${named(data)} changed`,
  'schedule.deleted': (data) => `Schedule${named(data)} deleted`,
  'schedule.missed': (data) =>
    `Schedule${named(data)} missed ${String(data.missed)} moments and asks what to do`,
  'schedule.decided': (data) =>
    `Missed moments of schedule${named(data)} ${data.run === true ? 'run once' : 'dropped'}`,
  'trigger.switched': (data) =>
    `Trigger${named(data, 'trigger')} ${data.enabled === true ? 'switched on' : 'paused'}`,
  'trigger.failing': (data) => `Trigger${named(data, 'trigger')} does not reach its source`,
  'trigger.recovered': (data) => `Trigger${named(data, 'trigger')} works again`,
  'trigger.silent': (data) => `Trigger${named(data, 'trigger')} has had no event for too long`,
  'trigger.dead_letter': (data) =>
    `An event of trigger${named(data, 'trigger')} could not start a run`,
  'trigger.held': (data) => `Trigger${named(data, 'trigger')} asks whether to run`,
  'trigger.replayed': (data) =>
    `${String(data.events)} events of trigger${named(data, 'trigger')} run again`,
  'trigger.dropped': (data) =>
    `${String(data.events)} events of trigger${named(data, 'trigger')} dropped`,
  'trigger.address_changed': (data) => `Trigger${named(data, 'trigger')} has new addresses`,
  'thread.created': () => 'Conversation begun',
  'thread.changed': () => 'Conversation changed',
  'thread.deleted': () => 'Conversation deleted',
  'thread.restored': () => 'Conversation restored',
  'notification.created': () => 'Somebody was notified',
  'data.committed': describeCommit,
  'run.queued': (data) => `Run${named(data, 'title')} started`,
  'run.running': (data) => `Run${named(data, 'title')} is under way`,
  'run.blocked': (data) => `Run${named(data, 'title')} waits for an answer`,
  'run.waiting_for_approval': (data) => `Run${named(data, 'title')} waits for an approval`,
  'run.reviewing': (data) => `Run${named(data, 'title')} is reviewed`,
  'run.done': (data) => `Run${named(data, 'title')} finished`,
  'run.failed': (data) => `Run${named(data, 'title')} failed`,
  'run.cancelled': (data) => `Run${named(data, 'title')} cancelled`,
  'run.pause_asked': () => 'Run asked to pause',
  'run.resume_asked': () => 'Run asked to go on',
  'run.cancel_asked': () => 'Run asked to stop',
  'run.brought_in': (data) => `Run${named(data, 'title')} brought in from a file`,
  'run.undo_done': (data) => `Step${named(data, 'key')} of a run undone`,
  'run.undo_failed': (data) => `Step${named(data, 'key')} of a run could not be undone`,
  'run.redo_done': (data) => `Step${named(data, 'key')} of a run done again`,
  'run.redo_failed': (data) => `Step${named(data, 'key')} of a run could not be done again`,
  'approval.requested': (data) => `Approval asked for${named(data, 'title')}`,
  'approval.approved': (data) => `Approved${named(data, 'title')}`,
  'approval.rejected': (data) => `Rejected${named(data, 'title')}`,
  'approval.edited': (data) => `Edited, others must approve${named(data, 'title')}`,
  'approval.mismatched': (data) => `Refused: not what was approved${named(data, 'title')}`,
  'approval.delegated': (data) => `Approval passed on${named(data, 'title')}`,
  'approvers.changed': (_data, _person, group) => `Approvers “${group}” changed`,
  'approvers.deleted': (_data, _person, group) => `Approvers “${group}” deleted`,
  'policy.changed': () => 'Policy changed',
  'settings.changed': (data) =>
    typeof data.safe_mode === 'boolean'
      ? `Safe mode switched ${data.safe_mode ? 'on' : 'off'}`
      : 'Settings of tools changed',
};

function wordOf(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? operationName(value) : otherwise;
}

/** What was done and to what. */
function describeCommit({ operation, datasets, files, branch }: Record<string, unknown>): string {
  const names = [datasets, files].flatMap((list): unknown[] => (Array.isArray(list) ? list : []));
  const where = typeof branch === 'string' && branch !== 'main' ? `, on branch “${branch}”` : '';
  return `${wordOf(operation, 'Data changed')}${listed(names)}${where}`;
}

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
  if (sentence) return sentence(data, nameOf(subject), subject);
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
