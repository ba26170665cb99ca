import { describe, expect, it } from 'vitest';
import { allowsRows, draftOf, modelOf } from '@/pages/models/draft';

const fresh = draftOf(undefined, 'project');

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
    expect(allowsRows({ ...fresh, provider, base_url })).toBe(sent);
    expect(modelOf({ ...fresh, provider, base_url }).allow_rows).toBe(sent);
  });

  it('are sent as a person chose', () => {
    expect(allowsRows({ ...fresh, provider: 'openai', allow_rows: true })).toBe(true);
    expect(allowsRows({ ...fresh, base_url: 'http://127.0.0.1/v1', allow_rows: false })).toBe(
      false,
    );
  });
});
