/** What became of a request. */
export type OutcomeKind =
  | 'ok'
  /** An answer that says that it was not done: a 503 with a code. */
  | 'refused'
  /** No answer: the connection ended, or nothing came in time. */
  | 'lost'
  /** An answer that is not true. */
  | 'wrong';

export interface Outcome {
  readonly kind: OutcomeKind;
  readonly operation: string;
  /** When the request was sent and when it was answered (`performance.now`). */
  readonly sentAt: number;
  readonly endedAt: number;
  /** The code or reason, unless it is ok. */
  readonly detail: string;
}

/** An answer, or the reason why there was none. */
export type Reply =
  | { readonly status: number; readonly text: string; readonly body: unknown }
  | { readonly status: 0; readonly reason: string };

const TIMEOUT_MS = 30_000;

/** Sends a request; never rejects. */
export const send = async (
  method: string,
  url: string,
  options: {
    readonly token: string;
    readonly body?: unknown;
    readonly form?: FormData;
    readonly key?: string;
  },
): Promise<Reply> => {
  const headers = new Headers({ authorization: `Bearer ${options.token}` });
  if (options.key !== undefined) headers.set('idempotency-key', options.key);
  if (options.body !== undefined) headers.set('content-type', 'application/json');
  const body = options.form ?? (options.body === undefined ? null : JSON.stringify(options.body));
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(url, { method, headers, body, signal });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    return { status: response.status, text, body: isJson ? JSON.parse(text) : undefined };
  } catch (error) {
    const { cause, message } = error as Error;
    return { status: 0, reason: cause instanceof Error ? cause.message : message };
  }
};

const codeOf = (body: unknown): string | undefined =>
  (body as { readonly error?: string } | undefined)?.error;

/**
 * Judges a reply: `isRight` says whether a 2xx response is true, `refusals` are the codes of errors that are honest
 * during this fault. The proxy answers 502 or 503 without a body if no replica has answered.
 */
export const judge = (
  reply: Reply,
  isRight: (body: unknown, text: string) => boolean,
  refusals: readonly string[],
): Pick<Outcome, 'kind' | 'detail'> => {
  if ('reason' in reply) return { kind: 'lost', detail: reply.reason };
  const { status, text, body } = reply;
  if (status >= 200 && status < 300) {
    if (isRight(body, text)) return { kind: 'ok', detail: '' };
    return { kind: 'wrong', detail: `${status} with ${text.slice(0, 200)}` };
  }
  if ((status === 502 || status === 503) && text === '') {
    return { kind: 'lost', detail: `${status} of the proxy` };
  }
  const code = codeOf(body);
  if (code !== undefined && refusals.includes(code)) return { kind: 'refused', detail: code };
  return { kind: 'wrong', detail: `${status} ${code ?? text.slice(0, 200)}` };
};
