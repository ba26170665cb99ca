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
      {changes.map(({ kind, name, before, after }) => (
        <li key={`${kind} ${name}`}>
          {kindOf(kind)} <b>{name}</b>: {versionOf(before)} → {versionOf(after)}
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
              <td>{pin.fixed ? 'Exactly this' : 'As it is then; changes are shown'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
