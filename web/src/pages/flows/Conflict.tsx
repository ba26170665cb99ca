/** Somebody changed the same steps in between: both sides by node, and nothing is lost whichever is taken. */
import { t } from '@lingui/core/macro';
import { Alert, Button, Group, Text } from '@mantine/core';
import { stringify } from 'yaml';
import { CodeBlock } from '@/components/CodeBlock';
import { type Clash, type Drawing, mergeDrawings, movedByBoth } from '@/flows/merge';
import type { Point } from '@/flows/layout';
import type { Studio } from './use-studio';
import classes from './flows.module.css';

interface Props {
  studio: Studio;
  theirs: Drawing;
  onKeep: () => void;
  /** The text is now based on theirs. */
  onSettled: () => void;
}

export function Conflict({ studio, theirs, onKeep, onSettled }: Props) {
  const { drawing, clashes } = mergeDrawings(studio.saved, studio, theirs, studio.language);
  const moved = movedByBoth(studio.saved.layout, studio.layout, theirs.layout);
  const take = (next: Drawing) => {
    studio.change(next);
    studio.markSaved(theirs);
    onSettled();
  };
  return (
    <Alert
      color="orange"
      title={t`This flow was changed by someone else`}
      className={classes.conflict ?? ''}
    >
      {t`Your changes are still here and not saved. Merging takes both; Undo brings your version back.`}
      {clashes.map((clash) => (
        <section
          key={`${clash.what} ${clash.gone?.join() ?? ''}`}
          aria-label={t`Changed by both: ${clash.what}`}
        >
          <strong>{reason(clash)}</strong>
          <div className={classes.sides}>
            <div>
              <Text size="sm" fw={600}>
                {t`Yours`}
              </Text>
              <CodeBlock
                label={t`Yours: ${clash.what}`}
                code={written(clash.mine)}
                maxHeight="12rem"
              />
            </div>
            <div>
              <Text size="sm" fw={600}>
                {t`The other version, which is saved`}
              </Text>
              <CodeBlock
                label={t`Theirs: ${clash.gone?.join(', ') ?? clash.what}`}
                code={written(clash.theirs)}
                maxHeight="12rem"
              />
            </div>
          </div>
        </section>
      ))}
      {moved.length > 0 && (
        <>
          <p>{t`Merging keeps your place of what both of you moved:`}</p>
          <ul>
            {moved.map((key) => (
              <li key={key}>
                {placesText(key, studio.layout.places[key], theirs.layout.places[key])}
              </li>
            ))}
          </ul>
        </>
      )}
      <Group gap="xs" mt="xs">
        <Button size="compact-sm" onClick={() => take(drawing)}>
          {t`Merge both`}
        </Button>
        <Button size="compact-sm" variant="default" onClick={onKeep}>
          {t`Save mine over it`}
        </Button>
        <Button size="compact-sm" variant="default" onClick={() => take(theirs)}>
          {t`Show the other version`}
        </Button>
      </Group>
    </Alert>
  );
}

function reason({ what, gone }: Clash) {
  if (!gone) return t`Both of you changed “${what}”. Merging keeps the other version of it.`;
  const names = gone.map((id) => `“${id}”`).join(', ');
  return t`“${what}” is connected to ${names}, which the other version no longer has. Merging keeps the step without that connection.`;
}

/** Where one box is on both sides, as seen from the other place: numbers from a corner of the canvas say little. */
export function placesText(key: string, mine?: Point, theirs?: Point): string {
  const [x, y] = [(mine?.x ?? 0) - (theirs?.x ?? 0), (mine?.y ?? 0) - (theirs?.y ?? 0)];
  const apart = [
    x === 0
      ? ''
      : x > 0
        ? t`${Math.abs(Math.round(x))} px to the right of theirs`
        : t`${Math.abs(Math.round(x))} px to the left of theirs`,
    y === 0 ? '' : `${Math.abs(Math.round(y))} px ${y > 0 ? 'below' : 'above'} theirs`,
  ];
  return t`“${key}”: yours is ${apart.filter(Boolean).join(t` and `)}.`;
}

const written = (value: unknown) => (value === undefined ? t`Removed` : stringify(value));
