/** Parts that a deployment pins, and which of them differ. */
import { Text } from '@mantine/core';
import type { ChangedPin, Pin } from '@/api/deployments';
import { Hash } from '@/components/Hash';
import classes from './versions.module.css';

const KINDS: Record<string, string> = {
  graph: 'Graph',
  flow: 'Called flow',
  prompt: 'Prompt',
  policy: 'Policy',
  agent: 'Agent',
  skill: 'Skill',
  tool: 'Tool',
  connection: 'Connection',
  model: 'Model',
  code: 'Code',
};

const kindOf = (kind: string) => KINDS[kind] ?? kind;
const versionOf = (pin: Pin | null) =>
  pin === null ? 'none' : pin.version === '' ? pin.hash.slice(0, 8) : versionText(pin);

/** The version as people call it; parts that are told apart by their hash alone have none. */
function versionText({ kind, version }: Pin): string {
  if (kind === 'graph' || kind === 'flow') return `Revision ${version}`;
  if (kind === 'policy' && version !== '')
    return version === '0' ? 'Default' : `Revision ${version}`;
  return version;
}

/** Both sides in words; the hash says what differs where the versions are called the same. */
function sidesOf({ before, after }: ChangedPin): string {
  const [old, now] = [versionOf(before), versionOf(after)];
  if (old !== now || before === null || after === null) return `${old} → ${now}`;
  return `${old} (${before.hash.slice(0, 8)}) → ${now} (${after.hash.slice(0, 8)})`;
}

/** What a pin means for runs of the deployment. */
function effectOf({ kind, fixed }: Pin): string {
  if (!fixed) return 'The current one. Changes are listed above.';
  if (kind === 'policy') return 'The stricter of this and the current one.';
  if (kind === 'model') return 'Exactly this. The step fails if it is no longer set up.';
  return 'Exactly this.';
}

export function PinChanges({ changes, none }: { changes: readonly ChangedPin[]; none: string }) {
  if (changes.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {none}
      </Text>
    );
  }
  return (
    <ul className={classes.list}>
      {changes.map((change) => (
        <li key={`${change.kind} ${change.name}`}>
          {kindOf(change.kind)} <b>{change.name}</b>: {sidesOf(change)}
        </li>
      ))}
    </ul>
  );
}

export function PinTable({ pins }: { pins: readonly Pin[] }) {
  return (
    <table className={classes.pins}>
      <caption className={classes.caption}>Pinned parts</caption>
      <thead>
        <tr>
          <th scope="col">Part</th>
          <th scope="col">Version</th>
          <th scope="col">What runs use</th>
        </tr>
      </thead>
      <tbody>
        {pins.map((pin) => (
          <tr key={`${pin.kind} ${pin.name}`}>
            <th scope="row">
              <span className={classes.kind}>{kindOf(pin.kind)}</span> {pin.name}
            </th>
            <td>
              <span className={classes.version}>{versionText(pin)}</span>{' '}
              <Hash value={pin.hash} label={`${kindOf(pin.kind)} ${pin.name}`} />
            </td>
            <td>{effectOf(pin)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
