/** Definitions as files: export for other tools, import from them; what a format cannot say is told. */
import { plural, t } from '@lingui/core/macro';
import { Button, FileButton, Menu } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { ChevronDown, Download, FileDown } from 'lucide-react';
import {
  type DefinitionFormat,
  exportDefinitions,
  useDefinitionAction,
  useImportDefinitions,
} from '@/api/definitions';
import { useProject } from '@/app/project';
import { offerUndo, showDone, showFailure } from '@/components/undo';
import { saveText } from '@/pages/audit/search';

const FORMATS: { value: DefinitionFormat; label: string; file: string }[] = [
  { value: 'steward', label: t`Steward (YAML)`, file: 'definitions.yaml' },
  { value: 'ossie', label: t`Apache Ossie 0.1.1 (YAML)`, file: 'definitions.ossie.yaml' },
  { value: 'dbt', label: t`dbt semantic models (YAML)`, file: 'semantic_models.yml' },
];

function lossesOf(losses: readonly string[]): string {
  if (losses.length === 0) return '';
  const more = losses.length > 1 ? t` and ${losses.length - 1} more` : '';
  return t` Not in the file: ${losses[0] ?? ''}${more}`;
}

export function ExportDefinitions() {
  const project = useProject();
  const save = useMutation({
    mutationFn: ({ value }: (typeof FORMATS)[number]) => exportDefinitions(project.id, value),
    onError: showFailure,
    onSuccess: ({ text, losses }, { file }) => {
      saveText(file, text, 'application/yaml');
      showDone(t`${file} saved.${lossesOf(losses)}`);
    },
  });
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button
          variant="default"
          leftSection={<Download size={14} aria-hidden />}
          rightSection={<ChevronDown size={14} aria-hidden />}
          loading={save.isPending}
        >
          {t`Export`}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {FORMATS.map((format) => (
          <Menu.Item key={format.value} onClick={() => save.mutate(format)}>
            {format.label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

export function ImportDefinitions({ revision }: { revision: number }) {
  const project = useProject();
  const take = useImportDefinitions(project.id);
  const restore = useDefinitionAction(project.id);
  const bring = async (file: File | null) => {
    if (file === null) return;
    take.mutate(
      { text: await file.text(), revision },
      {
        onError: showFailure,
        onSuccess: ({ changes, losses, revision: made }) => {
          if (changes.length === 0) {
            showDone(t`${file.name} says nothing that is not here already.`);
            return;
          }
          const many = plural(changes.length, {
            one: `1 definition`,
            other: `${changes.length} definitions`,
          });
          const left = losses.length > 0 ? t` ${losses.length} parts could not be read.` : '';
          offerUndo({
            message: t`${many} imported from ${file.name}.${left}`,
            undo: () =>
              restore.mutateAsync({ action: { kind: 'restore', revision }, revision: made }),
            undone: t`The definitions are as they were`,
          });
        },
      },
    );
  };
  return (
    <FileButton accept=".yaml,.yml,.json" onChange={(file) => void bring(file)}>
      {(props) => (
        <Button
          variant="default"
          leftSection={<FileDown size={14} aria-hidden />}
          loading={take.isPending}
          {...props}
        >
          {t`Import`}
        </Button>
      )}
    </FileButton>
  );
}
