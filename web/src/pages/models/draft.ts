/** What a person fills in about a model, and what becomes of it. */
import type { Level, Model, NewModel } from '@/api/models';

interface Provider {
  title: string;
  example: string;
  /** An address to show as an example; empty where none is asked for. */
  address: string;
  key: boolean;
}

export const PROVIDERS: Record<NewModel['provider'], Provider> = {
  compatible: {
    title: 'OpenAI-compatible server',
    example: 'my-model',
    address: 'http://127.0.0.1:8080/v1',
    key: false,
  },
  ollama: {
    title: 'Ollama',
    example: 'qwen3:8b',
    address: 'http://127.0.0.1:11434/v1',
    key: false,
  },
  local: { title: 'This machine', example: 'qwen2.5-coder-1.5b', address: '', key: false },
  openai: { title: 'OpenAI', example: 'gpt-5-mini', address: '', key: true },
  anthropic: { title: 'Anthropic', example: 'claude-sonnet-4-5', address: '', key: true },
  google: { title: 'Google', example: 'gemini-2.5-flash', address: '', key: true },
  azure: {
    title: 'Azure OpenAI',
    example: 'name-of-the-deployment',
    address: 'https://example.openai.azure.com',
    key: true,
  },
  bedrock: { title: 'Amazon Bedrock', example: 'anthropic.claude-v4', address: '', key: true },
};

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
export function allowsRows({ allow_rows, provider, base_url }: Draft): boolean {
  if (allow_rows !== null) return allow_rows;
  const address = base_url.trim() || PROVIDERS[provider].address;
  return provider === 'local' || (URL.canParse(address) && isLoopback(new URL(address).hostname));
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(\.\d+){3}$/.test(host);
}

export function problemsOf({ name, base_url, provider, price_input, price_output }: Draft) {
  const needsAddress = provider === 'compatible' || provider === 'azure';
  const problems: Record<string, string> = {};
  if (name.trim() === '') problems.name = 'Enter the model’s name.';
  if (needsAddress && !/^https?:\/\//.test(base_url.trim())) {
    problems.base_url = 'Enter the address of the server, such as http://127.0.0.1:8080/v1.';
  }
  if ((price_input === '') !== (price_output === '')) {
    problems.price_output = 'Enter both prices or none.';
  }
  return problems;
}

export function modelOf(draft: Draft): NewModel {
  const { provider, planning, price_input, price_output } = draft;
  const asksForAddress = PROVIDERS[provider].address !== '';
  const address = draft.base_url.trim();
  return {
    provider,
    name: draft.name.trim(),
    base_url: asksForAddress && address !== '' ? address : null,
    api: 'chat',
    allow_rows: allowsRows(draft),
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
