/** Kinds of cases in words, and cases put together by them. */
import { t } from '@lingui/core/macro';
import type { EvaluationCase } from '@/api/evaluations';

const WORDS: Record<string, string> = {
  plan: t`Plans`,
  trajectory: t`Tool calls`,
  answer: t`Answers against SQL`,
  undo: t`Undo and redo`,
  merge: t`Merge accuracy`,
  policy: t`Policy`,
  injection: t`Hostile text`,
  replay: t`Recorded runs`,
};

/** A kind that a package brought along reads as it is called. */
export function kindInWords(kind: string): string {
  return WORDS[kind] ?? kind.charAt(0).toUpperCase() + kind.slice(1);
}

/** Known kinds in their order, then others; within a kind, what failed comes first. */
export function byKind(cases: EvaluationCase[]): [string, EvaluationCase[]][] {
  const order = [...new Set([...Object.keys(WORDS), ...cases.map(({ kind }) => kind)])];
  const rank = ({ outcome }: EvaluationCase) => (outcome === 'failed' ? 0 : 1);
  return order
    .map((kind): [string, EvaluationCase[]] => [
      kind,
      cases.filter((each) => each.kind === kind).sort((a, b) => rank(a) - rank(b)),
    ])
    .filter(([, group]) => group.length > 0);
}
