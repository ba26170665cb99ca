/** What the arguments of a call are for, in words for people, those that matter most first. */
import { t } from '@lingui/core/macro';

export type ArgumentRole =
  | 'recipient'
  | 'destination'
  | 'amount'
  | 'target'
  | 'reach'
  | 'secret'
  | 'undeclared'
  | 'content'
  | 'selector'
  | 'plain';

/** What a person can say that an argument is for. */
export type DeclaredRole = Exclude<ArgumentRole, 'undeclared'>;

interface RoleWords {
  word: string;
  /** For who says what an argument is for. */
  help: string;
}

/** In the order in which people see arguments. */
export const ARGUMENT_ROLES: Record<ArgumentRole, RoleWords> = {
  recipient: { word: t`Recipient`, help: t`Who gets something: a person, an account, a channel.` },
  destination: { word: t`Destination`, help: t`The address or system that is opened or sent to.` },
  amount: { word: t`Amount`, help: t`How much: money, a quantity, a price.` },
  target: { word: t`Works on`, help: t`What is changed or taken along: a file, a record.` },
  reach: { word: t`Reach`, help: t`How far or how often: permission, visibility, repetition.` },
  secret: { word: t`Secret`, help: t`A credential, or the name of one.` },
  undeclared: { word: t`Not declared`, help: t`No one has said yet what it is for.` },
  content: { word: t`Content`, help: t`Words or data for somebody to read.` },
  selector: { word: t`Selection`, help: t`Which part of the data: a query, columns, filters.` },
  plain: { word: t`Setting`, help: t`Limits, formats, dates: nothing of the others.` },
};
const ORDER = Object.keys(ARGUMENT_ROLES) as ArgumentRole[];

export interface RoledValue {
  path: string;
  role: ArgumentRole;
  value: unknown;
}

/** The arguments of a call with what each is for; what is empty says nothing and is left out. */
export function argumentsByRole(
  given: Record<string, unknown>,
  roles: Record<string, string>,
): RoledValue[] {
  return Object.entries(roles)
    .map(([path, role]) => ({ path, role: role as ArgumentRole, value: valueAt(given, path) }))
    .filter(({ value }) => !isEmpty(value))
    .sort((one, other) => ORDER.indexOf(one.role) - ORDER.indexOf(other.role));
}

/** `people[].email` is the e-mail of everybody in the list. */
function valueAt(given: Record<string, unknown>, path: string): unknown {
  let found: unknown[] = [given];
  for (const step of path.replaceAll('[]', '.[]').split('.')) {
    found = found.flatMap((value) => inside(value, step));
  }
  return /\[\]|\.\*/.test(path) ? found : found[0];
}

function inside(value: unknown, step: string): unknown[] {
  if (step === '[]') return Array.isArray(value) ? value : [];
  if (typeof value !== 'object' || value === null) return [];
  if (step === '*')
    return Object.entries(value).map(([key, inner]) => ({ [key]: inner as unknown }));
  const name = step.replace(/~([0-9a-f]{2})/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  return name in value ? [(value as Record<string, unknown>)[name]] : [];
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
