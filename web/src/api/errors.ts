/** One error type for everything that can go wrong between this page and the server. */
import { t } from '@lingui/core/macro';

export interface FieldError {
  /** JSON pointer to the part of the request that was refused, such as `/name`. */
  pointer: string;
  message: string;
}

interface Problem {
  title?: unknown;
  detail?: unknown;
  code?: unknown;
  instance?: unknown;
  errors?: unknown;
  run_id?: unknown;
}

interface ApiErrorFields {
  status: number;
  code: string;
  title: string;
  detail: string;
  requestId: string | null;
  retryAfterSeconds: number | null;
  fields: FieldError[];
  runId?: string | null;
}

/** A refused or failed request. `status` 0 means that the server was not reached at all. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  readonly requestId: string | null;
  readonly retryAfterSeconds: number | null;
  readonly fields: FieldError[];
  /** The run that waits for somebody, where that is why nothing has happened yet. */
  readonly runId: string | null;

  constructor(fields: ApiErrorFields) {
    super(fields.detail || fields.title);
    this.status = fields.status;
    this.code = fields.code;
    this.title = fields.title;
    this.detail = fields.detail;
    this.requestId = fields.requestId;
    this.retryAfterSeconds = fields.retryAfterSeconds;
    this.fields = fields.fields;
    this.runId = fields.runId ?? null;
  }

  /** Whether the same request may succeed a moment later. */
  get transient(): boolean {
    return this.status === 0 || this.status >= 500;
  }

  static unreachable(): ApiError {
    return new ApiError({
      status: 0,
      code: 'unreachable',
      title: t`The server cannot be reached`,
      detail: t`Check your connection and that Steward is running, then try again.`,
      requestId: null,
      retryAfterSeconds: null,
      fields: [],
    });
  }

  /** Reads problem+json; answers of a proxy in between, which are not, become errors as well. */
  static async fromResponse(response: Response): Promise<ApiError> {
    const problem = await readProblem(response);
    const retryAfter = Number(response.headers.get('Retry-After') ?? Number.NaN);
    return new ApiError({
      status: response.status,
      code: text(problem.code) ?? `http_${response.status}`,
      title: text(problem.title) ?? t`The server answered ${response.status}`,
      detail: text(problem.detail) ?? '',
      requestId: response.headers.get('X-Request-ID') ?? text(problem.instance),
      retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : null,
      fields: fieldErrors(problem.errors),
      runId: text(problem.run_id),
    });
  }
}

async function readProblem(response: Response): Promise<Problem> {
  if (!(response.headers.get('Content-Type') ?? '').includes('json')) return {};
  try {
    const body: unknown = await response.json();
    return typeof body === 'object' && body !== null ? body : {};
  } catch {
    return {};
  }
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function fieldErrors(value: unknown): FieldError[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((entry: unknown) => {
    if (typeof entry !== 'object' || entry === null) return [];
    const { pointer, message } = entry as Record<string, unknown>;
    return typeof pointer === 'string' && typeof message === 'string' ? [{ pointer, message }] : [];
  });
}

const NOWHERE = {
  title: t`There is nothing at this address`,
  detail: t`A part of it may be missing or mistyped. Open what you look for from its list.`,
};

/** Whether the address itself was refused: which pattern it should match says nothing to people. */
function isOfAddress({ status, fields }: ApiError): boolean {
  return (
    status === 422 &&
    fields.length > 0 &&
    fields.every(({ pointer }) => pointer.startsWith('/path/'))
  );
}

/** What to tell a person about any thrown value. */
export function explain(error: unknown): {
  title: string;
  detail: string;
  requestId: string | null;
} {
  if (error instanceof ApiError) {
    if (isOfAddress(error)) return { ...NOWHERE, requestId: error.requestId };
    return { title: error.title, detail: error.detail, requestId: error.requestId };
  }
  const detail = error instanceof Error ? error.message : String(error);
  return { title: t`Something went wrong on this page`, detail, requestId: null };
}

/** Messages by form field, for errors whose pointer names a top-level field of the request. */
export function fieldMessages(error: unknown): Record<string, string> {
  if (!(error instanceof ApiError)) return {};
  return Object.fromEntries(
    error.fields.map(({ pointer, message }) => [
      pointer.split('/').filter(Boolean).at(-1) ?? '',
      message,
    ]),
  );
}
