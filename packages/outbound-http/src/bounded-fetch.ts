import { currentTraceparent, type SpanOptions, spanWithin } from '@tessera/telemetry';
import { fetchOnFreshConnection } from './fresh-connection.ts';
import { readBounded } from './read-bounded.ts';

export interface FetchLimits {
  /** The limit for the whole exchange, including the body. */
  readonly timeoutMs: number;
  /** The largest body that is read. */
  readonly maxBytes: number;
}

const about = ({ method, url }: Request): SpanOptions => {
  const { hostname, port, protocol } = new URL(url);
  const attributes = {
    'http.request.method': method,
    'server.address': hostname,
    'server.port': Number(port || (protocol === 'https:' ? 443 : 80)),
  };
  return { kind: 'client', attributes };
};

const SAFE_METHODS: readonly string[] = ['GET', 'HEAD'];
/** The codes of a connection that ended before the response: those of undici and of the operating system. */
const CONNECTION_ENDED: readonly unknown[] = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'];

const hasConnectionEnded = (error: unknown): boolean => {
  const { cause } = error as { readonly cause?: { readonly code?: unknown } };
  return CONNECTION_ENDED.includes(cause?.code);
};

/**
 * Sends a request that follows no redirects. The server can close an idle connection while a request is being sent on it;
 * one that changes nothing (RFC 9110 section 9.2.1) is then sent once more, on a fresh connection.
 */
const send = async (request: Request, signal: AbortSignal): Promise<Response> => {
  try {
    return await fetch(request, { redirect: 'manual', signal });
  } catch (error) {
    if (!SAFE_METHODS.includes(request.method) || !hasConnectionEnded(error)) throw error;
    return fetchOnFreshConnection(request, signal);
  }
};

/**
 * A `fetch` for services with configured addresses: it has a deadline and a size limit, and follows no
 * redirects. A safe request whose connection ends before the response is sent once more. Throws when there is no usable
 * response. For addresses that users enter, use `PublicHttp`.
 */
export const boundedFetch =
  ({ timeoutMs, maxBytes }: FetchLimits) =>
  (request: Request): Promise<Response> =>
    spanWithin(
      request.method,
      () => about(request),
      async (span) => {
        const traceparent = currentTraceparent();
        if (traceparent) request.headers.set('traceparent', traceparent);
        const response = await send(request, AbortSignal.timeout(timeoutMs));
        const { status, headers } = response;
        span?.setAttribute('http.response.status_code', status);
        if (status >= 300 && status < 400) {
          await response.body?.cancel();
          throw new Error(`The response is a redirect (${status}).`);
        }
        const body = await readBounded(response, maxBytes);
        return new Response(body.length > 0 ? new Uint8Array(body) : null, { status, headers });
      },
    );
