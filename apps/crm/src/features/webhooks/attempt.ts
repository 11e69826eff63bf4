import {
  AddressRefused,
  InvalidTarget,
  type PublicHttp,
  type PublicResponse,
} from '@tessera/outbound-http';
import { Webhook } from 'standardwebhooks';
import { version } from '../../version.ts';
import { withoutSecrets } from './echoed-secrets.ts';
import { retryAfter } from './retry-schedule.ts';

/** How long a receiver may take to respond, in milliseconds. */
export const TIMEOUT_MS = 15_000;
/** How much of a response is read and stored. */
const MAX_BODY_BYTES = 4096;
const MAX_HEADERS = 50;
const MAX_HEADER_LENGTH = 1000;

/** Headers of responses that contain credentials. */
const SECRET_HEADERS: readonly string[] = [
  'set-cookie',
  'authorization',
  'proxy-authenticate',
  'www-authenticate',
];

type Headers = Readonly<Record<string, string>>;

/** What one request is made of. */
export interface AttemptRequest {
  readonly id: string;
  readonly url: string;
  readonly payload: string;
  /** The current secret first. */
  readonly secrets: readonly string[];
}

/** One request and its response, as it is logged. It contains no signature and no secret. */
export interface AttemptResult {
  readonly requestHeaders: Headers;
  readonly status: number | null;
  readonly responseHeaders: Headers | null;
  readonly responseBody: string | null;
  readonly durationMs: number;
  /** Why the attempt failed; null if it succeeded. */
  readonly error: string | null;
  /** What the receiver asked for, in milliseconds; 0 if nothing. */
  readonly retryAfterMs: number;
}

/** The result of an attempt without a request. */
export const notSent = (error: string): AttemptResult => ({
  requestHeaders: {},
  status: null,
  responseHeaders: null,
  responseBody: null,
  durationMs: 0,
  error,
  retryAfterMs: 0,
});

/** The headers that Standard Webhooks specifies, with a signature for each secret. */
const signedHeaders = ({ id, payload, secrets }: AttemptRequest, at: Date): Headers => ({
  'webhook-id': id,
  'webhook-timestamp': `${Math.floor(at.getTime() / 1000)}`,
  'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, at, payload)).join(' '),
});

/** PostgreSQL stores no NUL characters. */
const storable = (text: string): string => text.replaceAll('\0', '\uFFFD');

const storedHeaders = (headers: PublicResponse['headers'], secrets: readonly string[]): Headers =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !SECRET_HEADERS.includes(name.toLowerCase()))
      .slice(0, MAX_HEADERS)
      .map(([name, value]) => [
        storable(name).slice(0, 200),
        withoutSecrets(storable([value ?? ''].flat().join(', ')), secrets).slice(
          0,
          MAX_HEADER_LENGTH,
        ),
      ]),
  );

/** Why there is no response, in words that the tenant can use. */
const reasonOf = (error: unknown): string => {
  if (error instanceof AddressRefused || error instanceof InvalidTarget) return error.message;
  const { name, code, message } = error as { name?: string; code?: unknown; message?: string };
  if (name === 'TimeoutError') return `There was no response within ${TIMEOUT_MS / 1000} seconds.`;
  return typeof code === 'string'
    ? `The request failed: ${code}.`
    : `The request failed: ${message}`;
};

/**
 * Sends one signed request. Never rejects: what went wrong is part of the result. Redirects are not followed, and count
 * as failures, as Standard Webhooks recommends.
 */
export const attempt = async (
  http: Pick<PublicHttp, 'request'>,
  request: AttemptRequest,
  signal?: AbortSignal,
): Promise<AttemptResult> => {
  const at = new Date();
  const plain = {
    'content-type': 'application/json',
    'user-agent': `Tessera-Webhooks/${version}`,
  };
  const signed = signedHeaders(request, at);
  const { 'webhook-signature': signatures = '', ...logged } = signed;
  const removed = [
    ...request.secrets.map((secret) => secret.replace(/^whsec_/, '')),
    ...signatures.split(' ').map((signature) => signature.replace(/^v1,/, '')),
  ];
  const requestHeaders = Object.assign({}, plain, logged);
  const started = performance.now();
  const durationMs = (): number => Math.round(performance.now() - started);
  try {
    const response = await http.request(request.url, {
      method: 'POST',
      headers: Object.assign({}, plain, signed),
      body: request.payload,
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_BODY_BYTES,
      overflow: 'truncate',
      redirect: 'manual',
      ...(signal && { signal }),
    });
    const { status, headers, body } = response;
    const isSuccess = status >= 200 && status < 300;
    return {
      requestHeaders,
      status,
      responseHeaders: storedHeaders(headers, removed),
      responseBody: withoutSecrets(storable(body.toString('utf8')), removed),
      durationMs: durationMs(),
      error: isSuccess ? null : `The receiver responded with ${status}.`,
      retryAfterMs: retryAfter(headers['retry-after']),
    };
  } catch (error) {
    return {
      requestHeaders,
      status: null,
      responseHeaders: null,
      responseBody: null,
      durationMs: durationMs(),
      error: storable(reasonOf(error)).slice(0, 500),
      retryAfterMs: 0,
    };
  }
};
