/** Reads a report from a file of the person's and has the project keep it. */
import { t } from '@lingui/core/macro';
import { useKeepEvaluation } from '@/api/evaluations';
import { showToast } from '@/components/toasts';
import { showDone, showFailure } from '@/components/undo';

const SHOWN_FOR = 10_000;

export function useKeepFile(projectId: string) {
  const keep = useKeepEvaluation(projectId);
  return (file: File | null) => {
    if (file === null) return;
    void file.text().then((text) => {
      const report = parsed(text);
      if (report === null) {
        showToast({
          tone: 'failure',
          shownFor: SHOWN_FOR,
          message: t`${file.name} is no report: make one with steward eval --report report.json`,
        });
        return;
      }
      keep.mutate(report, {
        onSuccess: ({ title }) => showDone(t`${title} kept`),
        onError: showFailure,
      });
    });
  };
}

export function parsed(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
