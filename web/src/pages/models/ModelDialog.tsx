/** Adds a model or changes one: provider, name, address, key, price, and whether rows may leave. */
import { t } from '@lingui/core/macro';
import {
  Alert,
  Group,
  Modal,
  NumberInput,
  PasswordInput,
  SegmentedControl,
  Select,
  Stack,
  Switch,
  TextInput,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import { fieldMessages } from '@/api/errors';
import {
  type Level,
  type Model,
  type ModelProvider,
  type ModelSetup,
  type NewModel,
  useSetUpModel,
  useTestModel,
} from '@/api/models';
import { useProject } from '@/app/project';
import { FormError } from '@/components/FormError';
import { FormFooter } from '@/components/FormFooter';
import { showDone } from '@/components/undo';
import { allowsRows, type Draft, draftOf, labelFor, modelOf, problemsOf } from './draft';

interface Props {
  opened: boolean;
  providers: ModelProvider[];
  setups: ModelSetup[];
  changed: { setup: ModelSetup; model: Model } | null;
  onClose: () => void;
}

export function ModelDialog({ opened, changed, ...rest }: Props) {
  const title = changed ? t`Change ${changed.model.label}` : t`Add a model`;
  return (
    <Modal opened={opened} onClose={rest.onClose} title={title} size="lg">
      <ModelForm key={changed?.model.label ?? 'new'} changed={changed} {...rest} />
    </Modal>
  );
}

function useSave(projectId: string, setups: ModelSetup[], onClose: () => void) {
  const save = useSetUpModel(projectId);
  const test = useTestModel(projectId);
  const submit = (level: Level, label: string, model: NewModel, onError: (e: unknown) => void) => {
    const revision = setups.find((setup) => setup.level === level)?.revision ?? 0;
    save.mutate(
      { level, revision, label, model },
      {
        onSuccess: () => {
          showDone(t`${label} saved. Testing it.`);
          // A model that was never asked is of no use to know about.
          test.mutate({ level, label }, { onSuccess: ({ words }) => showDone(words) });
          onClose();
        },
        onError,
      },
    );
  };
  return { save, submit };
}

function ModelForm({ providers, setups, changed, onClose }: Omit<Props, 'opened'>) {
  const named = (name: string) => providers.find(({ provider }) => provider === name);
  const project = useProject();
  const { save, submit } = useSave(project.id, setups, onClose);
  const form = useForm<Draft>({
    initialValues: draftOf(changed?.model, changed?.setup.level ?? setups[0]?.level ?? 'project'),
    validate: (draft) => problemsOf(draft, named(draft.provider)),
  });
  const known = named(form.values.provider);
  const rows = allowsRows(form.values, known);
  return (
    <form
      noValidate
      onSubmit={form.onSubmit((draft) =>
        submit(
          draft.level,
          changed?.model.label ?? labelFor(draft),
          modelOf(draft, named(draft.provider)),
          (error) => form.setErrors(fieldMessages(error)),
        ),
      )}
    >
      <Stack>
        {changed === null && setups.length > 1 && (
          <SegmentedControl
            aria-label={t`For whom`}
            data={[
              { value: 'project', label: t`For this project` },
              { value: 'organisation', label: t`For the whole organisation` },
            ]}
            {...form.getInputProps('level')}
          />
        )}
        <Select
          label={t`Provider`}
          data={providers.map(({ provider, title }) => ({ value: provider, label: title }))}
          allowDeselect={false}
          {...form.getInputProps('provider')}
        />
        <TextInput
          label={t`Model`}
          placeholder={known?.example ?? ''}
          description={t`Its name at the provider.`}
          data-autofocus
          {...form.getInputProps('name')}
        />
        {known?.address && (
          <TextInput
            label={t`Address`}
            placeholder={known.address}
            description={t`Of the server, up to /v1.`}
            {...form.getInputProps('base_url')}
          />
        )}
        <PasswordInput
          label={t`Key`}
          description={
            changed?.model.has_key
              ? t`It has one. Enter another to replace it. It cannot be shown.`
              : known?.needs_key
                ? t`Kept as a secret. It cannot be shown again.`
                : t`Only if the server asks for one.`
          }
          autoComplete="off"
          {...form.getInputProps('key')}
        />
        <Switch
          label={t`Rows of data may be sent to it`}
          description={t`Off: it sees only schemas and statistics. Off at first unless the model runs on this machine.`}
          checked={rows}
          onChange={(event) => form.setFieldValue('allow_rows', event.currentTarget.checked)}
        />
        <Group grow>
          <NumberInput
            label={t`Price, read`}
            description={t`US dollars per million tokens`}
            min={0}
            decimalScale={4}
            {...form.getInputProps('price_input')}
          />
          <NumberInput
            label={t`Price, written`}
            description={t`Empty: as listed, or unknown`}
            min={0}
            decimalScale={4}
            {...form.getInputProps('price_output')}
          />
        </Group>
        <Select
          label={t`Plans`}
          description={t`Small models plan better in short stages.`}
          data={[
            { value: 'auto', label: t`Decide by its size` },
            { value: 'stages', label: t`In short stages` },
            { value: 'whole', label: t`All at once` },
          ]}
          allowDeselect={false}
          {...form.getInputProps('planning')}
        />
        {known?.hint && (
          <Alert variant="light" color="gray">
            {known.hint}
          </Alert>
        )}
        <FormError error={save.error} />
        <FormFooter
          submit={changed ? t`Save` : t`Add and test`}
          isPending={save.isPending}
          onCancel={onClose}
        />
      </Stack>
    </form>
  );
}
