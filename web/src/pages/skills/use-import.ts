/** Brings skills from zip archives, chosen or dropped. */
import { t } from '@lingui/core/macro';
import { ApiError } from '@/api/errors';
import { useImportSkills } from '@/api/skills';
import { showDone, showFailure } from '@/components/undo';
import { showToast } from '@/components/toasts';

export function useImport(projectId: string): (files: File[]) => void {
  const bring = useImportSkills(projectId);
  const bringOne = (file: File, replace: boolean) =>
    bring.mutate(
      { file, replace },
      {
        onSuccess: ({ items }) => showDone(t`Imported ${items.map(({ name }) => name).join(', ')}`),
        onError: (error) => {
          if (!(error instanceof ApiError) || error.code !== 'skill-exists') {
            showFailure(error);
            return;
          }
          showToast({
            tone: 'neutral',
            shownFor: 20_000,
            message: error.message,
            action: { label: t`Make new versions`, run: () => bringOne(file, true) },
          });
        },
      },
    );
  return (files) => files.forEach((file) => bringOne(file, false));
}
