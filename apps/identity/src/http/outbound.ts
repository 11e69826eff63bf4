import { readBounded } from '@tessera/http-kit';

export interface OutboundBounds {
  /** For the whole answer, its body included. */
  readonly timeoutMs: number;
  /** The largest body that is read. */
  readonly maxBytes: number;
}

/**
 * A `fetch` for what belongs to others: it ends after a time, reads no more than a bound, and follows no
 * redirect. Throws where that leaves no answer.
 */
export const boundedFetch =
  ({ timeoutMs, maxBytes }: OutboundBounds) =>
  async (request: Request): Promise<Response> => {
    const response = await fetch(request, {
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const { status, headers } = response;
    if (status >= 300 && status < 400) throw new Error(`The answer is a redirect (${status}).`);
    const body = await readBounded(response, maxBytes);
    return new Response(body.length > 0 ? new Uint8Array(body) : null, { status, headers });
  };
