/** A turn that has just begun, before the server has told about it. */
import type { Asked, Turn } from '@/api/chat-types';

interface Begun {
  asked: Asked;
  runId: string;
  threadId: string;
  by: string;
  at: string;
}

/** The path of a conversation with the new turn at its end. */
export function withNewTurn(path: Turn[], { asked, runId, threadId, by, at }: Begun): Turn[] {
  if (path.some((turn) => turn.run_id === runId)) return path;
  const parent = asked.parent === undefined ? (path.at(-1)?.run_id ?? null) : asked.parent;
  const kept = path.slice(0, path.findIndex((turn) => turn.run_id === parent) + 1);
  const replaced = path[kept.length];
  return [
    ...kept,
    {
      ...{ run_id: runId, thread_id: threadId, parent, message: asked.message },
      siblings: [...(replaced?.siblings ?? []), runId],
      mentions: asked.mentions ?? [],
      attachments: [],
      ...{ query_type: null, status: 'queued', waits: [], plans: [], steps: [] },
      ...{
        answer: null,
        reading: null,
        chart: null,
        figures: [],
        deviations: [],
        suggestions: [],
        rhythm: null,
        error: null,
      },
      cost: { usd: null, is_priced: true, tokens: 0, seconds: 0 },
      ...{ created_by: by, created_at: at, ended_at: null, undoable: false },
    },
  ];
}
