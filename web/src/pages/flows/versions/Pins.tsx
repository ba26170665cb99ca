/** Parts that a deployment pins, and which of them differ. */
import { t } from '@lingui/core/macro';
import { Text } from '@mantine/core';
import type { ChangedPin, Pin } from '@/api/deployments';
import { Hash } from '@/components/Hash';
import classes from './versions.module.css';

const KINDS: Record<string, string> = {
  graph: t`Graph`,
  flow: t`Called flow`,
  prompt: t`Prompt`,
  policy: t`Policy`,
  agent: t`Agent`,
  skill: t`Skill`,
  tool: t`Tool`,
  connection: t`Connection`,
  model: t`Model`,
  code: t`Code`,
};

const kindOf = (kind: string) => KINDS[kind] ?? kind;
const versionOf = (pin: Pin | null) =>
  pin === null ? 'none' : pin.version === '' ? pin.hash.slice(0, 8) : versionText(pin);

/** The version as people call it; parts that are told apart by their hash alone have none. */
function versionText({ kind, version }: Pin): string {
  if (kind === 'graph' || kind === 'flow') return t`Revision ${version}`;
  if (kind === 'policy' && version !== '')
    return version === '0' ? t`Default` : t`Revision ${version}`;
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
  if (!fixed) return t`The current one. Changes are listed above.`;
  if (kind === 'policy') return t`The stricter of this and the current one.`;
  if (kind === 'model') return t`Exactly this. The step fails if it is no longer set up.`;
  return t`Exactly this.`;
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
      <caption className={classes.caption}>{t`Pinned parts`}</caption>
      <thead>
        <tr>
          <th scope="col">{t`Part`}</th>
          <th scope="col">{t`Version`}</th>
          <th scope="col">{t`What runs use`}</th>
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
