/** Roles, lowest to highest, and what each may do in words. A runner stands apart: acts, and sees only what is theirs. */
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
  runner: 'Runs the playbooks shared with them, sees nothing else',
  viewer: 'Sees everything, changes nothing',
  operator: 'Starts runs, answers their questions, approves',
  editor: 'Changes data and how work is done',
  admin: 'Manages people, secrets and settings',
  owner: 'Everything, also deleting the project',
};

export function roleName(role: Role): string {
  return role.charAt(0).toUpperCase() + role.slice(1);
}

export function roleAtLeast(role: Role, minimum: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(minimum);
}

/** The roles a person of the given role may hand out: their own and those below. */
export function rolesUpTo(role: Role): Role[] {
  return ROLES.filter((candidate) => roleAtLeast(role, candidate));
}
