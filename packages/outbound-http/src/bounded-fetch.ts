import { readBounded } from './read-bounded.ts';

export interface FetchLimits {
  /** For the whole exchange, the body included. */
  readonly timeoutMs: number;
  /** The largest body that is read. */
  readonly maxBytes: number;
}

/**
 * A `fetch` for a service whose address is configuration: it has a deadline and a size limit, and follows no
 * redirect. Throws when there is no usable response. For addresses that users enter, see `PublicHttp`.
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
