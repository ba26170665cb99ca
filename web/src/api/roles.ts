/** Roles, lowest to highest, and what each may do in words. A runner stands apart: acts, and sees only what is theirs. */
import { t } from '@lingui/core/macro';
import type { Role } from './types';

const ROLES = [
  'runner',
  'viewer',
  'operator',
  'editor',
  'admin',
  'owner',
] as const satisfies Role[];

export const ROLE_DESCRIPTIONS: Record<Role, string> = {
  runner: t`Runs the playbooks shared with them, sees nothing else`,
  viewer: t`Sees everything, changes nothing`,
  operator: t`Starts runs, answers their questions, approves`,
  editor: t`Changes data and how work is done`,
  admin: t`Manages people, secrets and settings`,
  owner: t`Everything, also deleting the project`,
};

const NAMES: Record<Role, string> = {
  runner: t`Runner`,
  viewer: t`Viewer`,
  operator: t`Operator`,
  editor: t`Editor`,
  admin: t`Admin`,
  owner: t`Owner`,
};

export function roleName(role: Role): string {
  return NAMES[role];
}

export function roleAtLeast(role: Role, minimum: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(minimum);
}

/** The roles a person of the given role may hand out: their own and those below. */
export function rolesUpTo(role: Role): Role[] {
  return ROLES.filter((candidate) => roleAtLeast(role, candidate));
}
