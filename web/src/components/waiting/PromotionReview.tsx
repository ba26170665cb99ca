/** A branch that is to be promoted: what it would change, and the checks it passed. */
import { t } from '@lingui/core/macro';
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
  const from = source.includes(waiting.run_id) ? t`the branch of this run` : source;
  const shown = checks?.map((check) =>
    typeof check.passed === 'boolean' ? { ...check, passed: check.passed ? t`yes` : t`no` } : check,
  );
  const rows = entries.map(({ name, role, kind, added, removed, changed }) => ({
    what: name,
    kind,
    becomes: role,
    ...Object.fromEntries(
      Object.entries({ added, removed, changed })
        .filter(([, count]) => count !== undefined)
        .map(([word, count]) => [t`rows ${word}`, formats.number(count ?? 0)]),
    ),
  }));
  return (
    <>
      <Text size="sm">{t`Brings ${from} into ${into}, as one commit that can be undone.`}</Text>
      <Fact title={t`What changes`}>
        <ValueView label={t`What changes`} value={rows} />
      </Fact>
      {shown !== undefined && (
        <Fact title={t`Checks`}>
          <ValueView label={t`Checks`} value={shown} />
        </Fact>
      )}
    </>
  );
}
