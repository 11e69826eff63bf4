import { currentTraceparent, type SpanOptions, spanWithin } from '@tessera/telemetry';
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

/**
 * A `fetch` for services with configured addresses: it has a deadline and a size limit, and follows no
 * redirects. Throws when there is no usable response. For addresses that users enter, use `PublicHttp`.
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
        const response = await fetch(request, {
          redirect: 'manual',
          signal: AbortSignal.timeout(timeoutMs),
        });
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
