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
  pin === null ? 'none' : pin.version === '' ? pin.hash.slice(0, 8) : pin.version;

/** Both sides in words; the hash says what differs where the versions are called the same. */
function sidesOf({ before, after }: ChangedPin): string {
  const [old, now] = [versionOf(before), versionOf(after)];
  if (old !== now || before === null || after === null) return `${old} → ${now}`;
  return `${old} (${before.hash.slice(0, 8)}) → ${now} (${after.hash.slice(0, 8)})`;
}

/** What a pin means for runs of the deployment. */
function effectOf({ kind, fixed }: Pin): string {
  if (!fixed) return 'As it is then; changes are shown';
  if (kind === 'policy') return 'The stricter of this and the current one';
  if (kind === 'model') return 'Exactly this, as long as it is set up';
  return 'Exactly this';
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
    // Scrolls sideways on small screens, so it must be reachable by keyboard.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className={classes.scroller} role="group" aria-label="Pinned parts" tabIndex={0}>
      <table className={classes.pins}>
        <thead>
          <tr>
            <th scope="col">Part</th>
            <th scope="col">Name</th>
            <th scope="col">Version</th>
            <th scope="col">Hash</th>
            <th scope="col">In runs</th>
          </tr>
        </thead>
        <tbody>
          {pins.map((pin) => (
            <tr key={`${pin.kind} ${pin.name}`}>
              <td>{kindOf(pin.kind)}</td>
              <td>{pin.name}</td>
              <td>{pin.version}</td>
              <td>
                <Hash value={pin.hash} label={`${kindOf(pin.kind)} ${pin.name}`} />
              </td>
              <td>{effectOf(pin)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
