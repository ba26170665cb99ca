/**
 * Messages in the language of the reader. Every module with a text imports this one and waits for it, so that the
 * catalogue is there before any text is read, be it in a component or in a constant.
 */
import { type MessageDescriptor, type MessageOptions, setupI18n } from '@lingui/core';
import type { TransProps } from '@lingui/react';
import { TransNoContext } from '@lingui/react/server';
import { catalogues } from 'virtual:catalogues';
import { chosenLanguage, LANGUAGES, pickLanguage, SOURCE_LANGUAGE } from './choice';

const messages = setupI18n();
// The build has compiled them.
messages.setMessagesCompiler((message) => [message]);
messages.loadAndActivate({ locale: SOURCE_LANGUAGE, messages: {} });

const wanted = pickLanguage(chosenLanguage(), navigator.languages, LANGUAGES);
const load = catalogues[wanted];
if (load) {
  try {
    messages.loadAndActivate({ locale: wanted, messages: (await load()).default });
  } catch {
    // Better a page in English than none.
  }
}
document.documentElement.lang = messages.locale;

/** Stands for a backslash of a value, because Lingui reads "\\x41" in a finished text as an escaped letter. */
const BACKSLASH = '\uE000';

/** Where the macros `t` and `plural` lead. */
export const i18n = {
  locale: messages.locale,
  _(message: MessageDescriptor | string, values?: Values, options?: MessageOptions): string {
    if (typeof message === 'string') {
      return withBackslashes(messages._(message, guarded(values), options));
    }
    return withBackslashes(messages._({ ...message, values: guarded(message.values) }));
  },
};

function guarded(values: Values): Values {
  if (!values) return values;
  return Object.fromEntries(
    Object.entries(values).map(([name, value]: [string, unknown]) => [
      name,
      typeof value === 'string' ? value.replaceAll('\\', BACKSLASH) : value,
    ]),
  );
}

const withBackslashes = (text: string) => text.replaceAll(BACKSLASH, '\\');

/** A text that stands inside a sentence; German keeps the capital letters of its nouns. */
export function insideSentence(text: string): string {
  return messages.locale === 'de' ? text : text.toLowerCase();
}

type Values = Record<string, unknown> | undefined;

/** Where the macro `Trans` leads. */
export function Trans(props: TransProps) {
  return <TransNoContext {...props} values={asShown(props.values)} lingui={{ i18n: messages }} />;
}

/** A "<" in a value must not be read as an element of the message, nor a backslash as an escape. */
function asShown(values: TransProps['values']) {
  if (!values) return values;
  return Object.fromEntries(
    Object.entries(values).map(([name, value]: [string, unknown]) => [
      name,
      typeof value === 'string' && /[<\\]/.test(value) ? <>{value}</> : value,
    ]),
  );
}
