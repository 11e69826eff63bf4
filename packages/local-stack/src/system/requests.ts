import { setTimeout as delay } from 'node:timers/promises';

export interface ApiResponse {
  readonly status: number;
  /** The parsed body, if it is JSON. */
  readonly body: unknown;
  readonly text: string;
}

/** Sends a request to any service and reads the response, whatever its status. */
export const call = async (
  method: string,
  url: string,
  { token, body }: { token?: string | undefined; body?: unknown } = {},
): Promise<ApiResponse> => {
  const headers = new Headers();
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
  if (body !== undefined) headers.set('content-type', 'application/json');
  const sent = body === undefined ? null : JSON.stringify(body);
  const response = await fetch(url, { method, headers, body: sent });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json');
  return { status: response.status, text, body: isJson ? JSON.parse(text) : {} };
};

const BETWEEN_CALLS_MS = 20;

/**
 * Repeats a request until the response is as expected; returns all responses. Limited by the test's timeout.
 */
export const callUntil = async <Answer>(
  attempt: () => Promise<Answer>,
  wanted: (answer: Answer) => boolean,
): Promise<Answer[]> => {
  const seen: Answer[] = [];
  for (;;) {
    const answer = await attempt();
    seen.push(answer);
    if (wanted(answer)) return seen;
    await delay(BETWEEN_CALLS_MS);
  }
};
