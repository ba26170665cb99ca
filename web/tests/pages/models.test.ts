import { describe, expect, it } from 'vitest';
import type { ModelProvider } from '@/api/models';
import { allowsRows, draftOf, modelOf } from '@/pages/models/draft';

const fresh = draftOf(undefined, 'project');
const remote: ModelProvider = {
  provider: 'openai',
  title: 'OpenAI',
  example: 'gpt-5-mini',
  address: '',
  needs_address: false,
  needs_key: true,
  runs_here: false,
  hint: '',
};
const known: Record<string, ModelProvider> = {
  openai: remote,
  compatible: { ...remote, address: 'http://127.0.0.1:8080/v1', needs_address: true },
  ollama: { ...remote, address: 'http://127.0.0.1:11434/v1', runs_here: true },
  local: { ...remote, runs_here: true },
};

describe('rows of data', () => {
  it.each([
    ['compatible', 'http://127.0.0.1:8080/v1', true],
    ['compatible', 'http://localhost:8080/v1', true],
    ['compatible', 'http://[::1]:8080/v1', true],
    ['compatible', 'https://127.0.0.1.example.com/v1', false],
    ['compatible', 'https://models.example.com/v1', false],
    ['ollama', '', true],
    ['ollama', 'http://gpu:11434/v1', false],
    ['local', '', true],
    ['openai', '', false],
  ] as const)('are sent at first to %s at "%s": %s', (provider, base_url, sent) => {
    const draft = { ...fresh, provider, base_url };
    expect(allowsRows(draft, known[provider])).toBe(sent);
    expect(modelOf(draft, known[provider]).allow_rows).toBe(sent);
  });

  it('are not sent to a provider that is gone', () => {
    expect(allowsRows({ ...fresh, provider: 'acme' })).toBe(false);
  });

  it('are sent as a person chose', () => {
    expect(allowsRows({ ...fresh, provider: 'openai', allow_rows: true })).toBe(true);
    expect(allowsRows({ ...fresh, base_url: 'http://127.0.0.1/v1', allow_rows: false })).toBe(
      false,
    );
  });
});
