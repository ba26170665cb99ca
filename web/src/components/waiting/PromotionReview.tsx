/** A branch that is to be promoted: what it would change, and the checks it passed. */
import { Text } from '@mantine/core';
import { useFormats } from '@/components/format';
import { ValueView } from '../ValueView';
import { Fact } from './Facts';
import type { ViewProps } from './views';

interface Change {
  kind: string;
  name: string;
  role: string;
  added?: number;
  removed?: number;
  changed?: number;
}

interface Payload {
  source: string;
  into: string;
  entries: Change[];
}

export default function PromotionReview({ waiting, request }: ViewProps) {
  const formats = useFormats();
  // The flow that names this view asks for what `compare_branch` answers.
  const { source, into, entries } = request.payload as Payload;
  const checks = (request.shown as { checks?: Record<string, unknown>[] } | undefined)?.checks;
  const from = source.includes(waiting.run_id) ? 'the branch of this run' : source;
  const shown = checks?.map((check) =>
    typeof check.passed === 'boolean' ? { ...check, passed: check.passed ? 'yes' : 'no' } : check,
  );
  const rows = entries.map(({ name, role, kind, added, removed, changed }) => ({
    what: name,
    kind,
    becomes: role,
    ...Object.fromEntries(
      Object.entries({ added, removed, changed })
        .filter(([, count]) => count !== undefined)
        .map(([word, count]) => [`rows ${word}`, formats.number(count ?? 0)]),
    ),
  }));
  return (
    <>
      <Text size="sm">{`Brings ${from} into ${into}, as one commit that can be undone.`}</Text>
      <Fact title="What changes">
        <ValueView label="What changes" value={rows} />
      </Fact>
      {shown !== undefined && (
        <Fact title="Checks">
          <ValueView label="Checks" value={shown} />
        </Fact>
      )}
    </>
  );
}
