/** Name and the way dates and numbers are written. */
import { t } from '@lingui/core/macro';
import { Button, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMemo } from 'react';
import type { Versioned } from '@/api/client';
import { fieldMessages } from '@/api/errors';
import { useChangeMe } from '@/api/me';
import type { User } from '@/api/types';
import { createFormats, resolveLocale } from '@/components/format';
import { FormError } from '@/components/FormError';
import { showDone } from '@/components/undo';
import { localeChoices } from './locales';

const BROWSER = 'browser';

export function PersonForm({ current }: { current: Versioned<User> }) {
  const { document: user, etag } = current;
  const change = useChangeMe();
  const form = useForm({
    initialValues: { name: user.name, locale: user.locale ?? BROWSER },
    validate: { name: (name) => (name.trim() === '' ? t`Enter your name.` : null) },
  });
  const choices = useMemo(
    () => [{ value: BROWSER, label: t`As in this browser` }, ...localeChoices(user.locale)],
    [user.locale],
  );
  const submit = form.onSubmit(({ name, locale }) =>
    change.mutate(
      { etag, change: { name: name.trim(), locale: locale === BROWSER ? null : locale } },
      {
        onSuccess: () => {
          form.resetDirty();
          showDone(t`Saved`);
        },
        onError: (error) => form.setErrors(fieldMessages(error)),
      },
    ),
  );
  return (
    <form onSubmit={submit} noValidate>
      <Stack maw="26rem">
        <TextInput label={t`Name`} autoComplete="name" {...form.getInputProps('name')} />
        <TextInput label={t`E-mail`} value={user.email} readOnly variant="filled" />
        <div>
          <Select
            label={t`Dates and numbers`}
            data={choices}
            searchable
            allowDeselect={false}
            {...form.getInputProps('locale')}
          />
          <Example locale={form.values.locale} />
        </div>
        <FormError error={change.error} />
        <Group>
          <Button type="submit" loading={change.isPending} disabled={!form.isDirty()}>
            {t`Save`}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

const EXAMPLE_TIME = '2026-03-09T17:45:00Z';
const EXAMPLE_NUMBER = 1234567.89;

function Example({ locale }: { locale: string }) {
  const formats = createFormats(
    resolveLocale(locale === BROWSER ? null : locale, navigator.language),
  );
  return (
    <Text size="xs" c="dimmed" mt={4}>
      {t`For example ${formats.dateTime(EXAMPLE_TIME)} and ${formats.number(EXAMPLE_NUMBER)}`}
    </Text>
  );
}
