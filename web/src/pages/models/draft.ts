/** What a person fills in about a model, and what becomes of it. */
import { t } from '@lingui/core/macro';
import type { Level, Model, ModelProvider, NewModel } from '@/api/models';

export interface Draft {
  level: Level;
  provider: NewModel['provider'];
  name: string;
  base_url: string;
  key: string;
  /** Null until a person decides: then only a model on this machine gets rows. */
  allow_rows: boolean | null;
  price_input: number | string;
  price_output: number | string;
  planning: NonNullable<NewModel['planning']>;
}

export function draftOf(model: Model | undefined, level: Level): Draft {
  return {
    level,
    provider: model?.provider ?? 'compatible',
    name: model?.name ?? '',
    base_url: model?.base_url ?? '',
    key: '',
    allow_rows: model?.allow_rows ?? null,
    price_input: model?.price?.input ?? '',
    price_output: model?.price?.output ?? '',
    planning: model?.planning ?? 'auto',
  };
}

/** Whether rows may be sent, as a person chose; otherwise only to a server on this machine. */
export function allowsRows({ allow_rows, base_url }: Draft, provider?: ModelProvider): boolean {
  if (allow_rows !== null) return allow_rows;
  const address = base_url.trim() || (provider?.address ?? '');
  if (address === '') return provider?.runs_here ?? false;
  return URL.canParse(address) && isLoopback(new URL(address).hostname);
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(\.\d+){3}$/.test(host);
}

export function problemsOf(
  { name, base_url, price_input, price_output }: Draft,
  provider?: ModelProvider,
) {
  const problems: Record<string, string> = {};
  if (name.trim() === '') problems.name = t`Enter the model’s name.`;
  if (provider?.needs_address && !/^https?:\/\//.test(base_url.trim())) {
    problems.base_url = t`Enter the address of the server, such as http://127.0.0.1:8080/v1.`;
  }
  if ((price_input === '') !== (price_output === '')) {
    problems.price_output = t`Enter both prices or none.`;
  }
  return problems;
}

export function modelOf(draft: Draft, provider?: ModelProvider): NewModel {
  const { planning, price_input, price_output } = draft;
  const asksForAddress = (provider?.address ?? '') !== '';
  const address = draft.base_url.trim();
  return {
    provider: draft.provider,
    name: draft.name.trim(),
    base_url: asksForAddress && address !== '' ? address : null,
    api: 'chat',
    allow_rows: allowsRows(draft, provider),
    stream: true,
    planning,
    timeout_seconds: 300,
    price:
      price_input === '' || price_output === ''
        ? null
        : { input: Number(price_input), output: Number(price_output) },
    key: draft.key === '' ? null : draft.key,
  };
}

/** The name by which people and commands know it: from the model's own. */
export function labelFor({ name, provider }: Pick<Draft, 'name' | 'provider'>): string {
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9_.-]+/g, '-')
    .slice(0, 40);
  return /^[a-z]/.test(plain) ? plain : `${provider}-${plain}`.slice(0, 40);
}
