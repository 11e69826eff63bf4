import { setTimeout as delay } from 'node:timers/promises';
import type { Stack } from '../stack.ts';

/** Response fields used by the tests. */
interface Body {
  readonly data: { readonly id: string; readonly token: string };
  readonly access_token: string;
}

export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
  readonly text: string;
}

/** Sends a request and reads the response, whatever its status. */
export const call = async (
  method: string,
  url: string,
  {
    token,
    body,
    headers,
  }: { token?: string | undefined; body?: unknown; headers?: Record<string, string> } = {},
): Promise<ApiResponse> => {
  const response = await fetch(url, {
    method,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && {
      body: body instanceof URLSearchParams ? body : JSON.stringify(body),
    }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json');
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson ? JSON.parse(text) : {},
  };
};

/** Signs in with one of the stack's accounts; returns the token. */
export const signIn = async (
  stack: Stack,
  who: 'administrator' | 'owner' | 'viewer' | 'person' | 'other_owner',
): Promise<string> => {
  const { email, password } = stack.system[who];
  const answer = await call('POST', `${stack.identity.url}/api/auth/login`, {
    body: { email, password },
  });
  if (answer.status !== 200) throw new Error(`${who} could not sign in: ${answer.text}`);
  return answer.body.data.token;
};

const BETWEEN_CALLS_MS = 20;

/**
 * Repeats a request until the response is as expected; returns all responses. Limited by the test's timeout.
 */
export const callUntil = async (
  attempt: () => Promise<ApiResponse>,
  wanted: (answer: ApiResponse) => boolean,
): Promise<ApiResponse[]> => {
  const seen: ApiResponse[] = [];
  for (;;) {
    const answer = await attempt();
    seen.push(answer);
    if (wanted(answer)) return seen;
    await delay(BETWEEN_CALLS_MS);
  }
};

export const statuses = (answers: readonly ApiResponse[]): number[] => [
  ...new Set(answers.map(({ status }) => status)),
];
