/** Somebody changed the same steps in between: both sides by node, and nothing is lost whichever is taken. */
import { Alert, Button, Group } from '@mantine/core';
import { stringify } from 'yaml';
import { CodeBlock } from '@/components/CodeBlock';
import { mergeFlows, mergeLayouts } from '@/flows/merge';
import type { Drawing, Studio } from './use-studio';

interface Props {
  studio: Studio;
  theirs: Drawing;
  onKeep: () => void;
  /** The text is now based on theirs. */
  onSettled: () => void;
}

export function Conflict({ studio, theirs, onKeep, onSettled }: Props) {
  const { saved, language } = studio;
  const { text, clashes } = mergeFlows(saved.text, studio.text, theirs.text, language);
  const take = (next: Drawing) => {
    studio.change(next);
    studio.markSaved(theirs);
    onSettled();
  };
  const layout = mergeLayouts(saved.layout, studio.layout, theirs.layout);
  return (
    <Alert color="orange" title="This flow was changed by someone else" mb="sm">
      Your changes are still here and not saved. Merging takes both; Undo brings your version back.
      {clashes.map(({ what, mine, theirs: other }) => (
        <section key={what} aria-label={`Changed by both: ${what}`}>
          <strong>Both of you changed “{what}”. Merging keeps the other version of it.</strong>
          <Group align="flex-start" grow>
            <CodeBlock label={`Yours: ${what}`} code={written(mine)} />
            <CodeBlock label={`Theirs: ${what}`} code={written(other)} />
          </Group>
        </section>
      ))}
      <Group gap="xs" mt="xs">
        <Button size="compact-sm" onClick={() => take({ text, layout })}>
          Merge both
        </Button>
        <Button size="compact-sm" variant="default" onClick={onKeep}>
          Save mine over it
        </Button>
        <Button size="compact-sm" variant="default" onClick={() => take(theirs)}>
          Show the other version
        </Button>
      </Group>
    </Alert>
  );
}

const written = (value: unknown) => (value === undefined ? 'Removed' : stringify(value));
