import { readBounded } from './read-bounded.ts';

export interface FetchLimits {
  /** The limit for the whole exchange, including the body. */
  readonly timeoutMs: number;
  /** The largest body that is read. */
  readonly maxBytes: number;
}

/**
 * A `fetch` for services with configured addresses: it has a deadline and a size limit, and follows no
 * redirects. Throws when there is no usable response. For addresses that users enter, use `PublicHttp`.
 */
export const boundedFetch =
  ({ timeoutMs, maxBytes }: FetchLimits) =>
  async (request: Request): Promise<Response> => {
    const response = await fetch(request, {
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const { status, headers } = response;
    if (status >= 300 && status < 400) {
      await response.body?.cancel();
      throw new Error(`The response is a redirect (${status}).`);
    }
    const body = await readBounded(response, maxBytes);
    return new Response(body.length > 0 ? new Uint8Array(body) : null, { status, headers });
  };
