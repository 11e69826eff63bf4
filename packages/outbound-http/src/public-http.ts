import { setMaxListeners } from 'node:events';
import type { Agent, Dispatcher } from 'undici';
import { allowedAddresses, type IsAllowedAddress } from './addresses.ts';
import { checkedLookup, type Resolve } from './lookup.ts';
import { readBeginning, readBounded } from './read-bounded.ts';
import { createResolve } from './resolve.ts';
import { checkTarget } from './target.ts';

export interface PublicHttpOptions {
  /** Private networks that requests may be sent to, in CIDR notation; for development and tests. */
  readonly allowedNetworks?: readonly string[];
  /** The largest number of redirects that one request follows. Default 3. */
  readonly maxRedirects?: number;
  /** Resolves host names; by default with the name servers of the operating system. */
  readonly resolve?: Resolve;
}

export interface PublicRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** The limit for the whole exchange, including lookups, redirects and the body. Default 10,000. */
  readonly timeoutMs?: number;
  /** The largest body that is read. Default 1 MiB. */
  readonly maxBytes?: number;
  /** What happens to a larger body: an error, or its beginning is returned. Default `error`. */
  readonly overflow?: 'error' | 'truncate';
  /** Whether redirects are followed, or returned as responses. Default `follow`. */
  readonly redirect?: 'follow' | 'manual';
  /** Ends the request early. */
  readonly signal?: AbortSignal;
}

export interface PublicResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  /** The URL that responded, after redirects. */
  readonly url: string;
}

/** Too many redirects, or one from https to http. */
export class RedirectRefused extends Error {
  override readonly name = 'RedirectRefused';
}

/** A request as it is sent to one hop. */
interface Hop {
  readonly method: Dispatcher.HttpMethod;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | null;
}

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];
const CREDENTIAL_HEADERS: readonly string[] = ['authorization', 'cookie', 'proxy-authorization'];
const BODY_HEADERS: readonly string[] = ['content-type', 'content-length', 'content-encoding'];

const without = (headers: Hop['headers'], names: readonly string[]): Hop['headers'] =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => !names.includes(name.toLowerCase())),
  );

/** The request that follows a redirect, as the Fetch standard describes it. */
const redirected = (hop: Hop, status: number, isSameOrigin: boolean): Hop => {
  const headers = isSameOrigin ? hop.headers : without(hop.headers, CREDENTIAL_HEADERS);
  const becomesGet =
    status === 303
      ? hop.method !== 'GET' && hop.method !== 'HEAD'
      : (status === 301 || status === 302) && hop.method === 'POST';
  if (!becomesGet) return { method: hop.method, headers, body: hop.body };
  return { method: 'GET', headers: without(headers, BODY_HEADERS), body: null };
};

/** Rejects when the signal aborts; undici ignores the signal while it resolves a name or connects. */
const unlessAborted = async <T>(pending: Promise<T>, signal: AbortSignal): Promise<T> => {
  // The result is ignored once the signal has aborted.
  pending.catch(() => undefined);
  let onAbort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([pending, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
};

/**
 * HTTP requests to addresses that users enter, such as webhooks. Only public addresses are reached, also after
 * redirects, and a connection uses exactly the address that was checked. Requests have a deadline and a size
 * limit. Failed requests are not retried: send them from a job.
 */
export class PublicHttp {
  readonly #isAllowed: IsAllowedAddress;
  readonly #maxRedirects: number;
  readonly #lookup: ReturnType<typeof checkedLookup>;
  readonly #closing = new AbortController();
  #agent: Agent | undefined;

  constructor({ allowedNetworks = [], maxRedirects = 3, resolve }: PublicHttpOptions = {}) {
    this.#isAllowed = allowedAddresses(allowedNetworks);
    this.#maxRedirects = maxRedirects;
    // One for each lookup: requests can share a connection, so no lookup belongs to one of them.
    setMaxListeners(0, this.#closing.signal);
    this.#lookup = checkedLookup(
      resolve ?? createResolve({ hasLocalNames: allowedNetworks.length > 0 }),
      this.#isAllowed,
      this.#closing.signal,
    );
  }

  /** Throws an InvalidTarget or AddressRefused for a URL that no request may use, without a DNS lookup. */
  check(url: string): void {
    checkTarget(url, this.#isAllowed);
  }

  /**
   * Sends a request and reads its whole response, whatever its status. Rejects with an InvalidTarget,
   * AddressRefused, RedirectRefused or ResponseTooLarge, with a TimeoutError, a LookupFailed, or the network's error.
   */
  async request(url: string, options: PublicRequest = {}): Promise<PublicResponse> {
    const { timeoutMs = 10_000, maxBytes = 1024 * 1024, signal } = options;
    const { overflow = 'error', redirect = 'follow' } = options;
    const read = overflow === 'truncate' ? readBeginning : readBounded;
    const deadline = AbortSignal.timeout(timeoutMs);
    const ending = signal ? AbortSignal.any([signal, deadline]) : deadline;
    let target = checkTarget(url, this.#isAllowed);
    let hop: Hop = {
      method: options.method ?? 'GET',
      headers: options.headers ?? {},
      body: options.body ?? null,
    };
    for (let redirects = 0; ; redirects += 1) {
      const { method, headers, body } = hop;
      const response = await unlessAborted(
        this.#send(target, { method, headers, body, signal: ending }),
        ending,
      );
      const { statusCode: status } = response;
      const { location } = response.headers;
      const isFollowed = redirect === 'follow' && REDIRECTS.includes(status);
      if (!isFollowed || typeof location !== 'string') {
        const content = await read(response, maxBytes);
        return { status, headers: response.headers, body: content, url: target.href };
      }
      // The body of a redirect is discarded; destroying it emits an error, which needs a listener.
      response.body.on('error', () => undefined).destroy();
      if (redirects === this.#maxRedirects) throw new RedirectRefused('Too many redirects.');
      const next = checkTarget(location, this.#isAllowed, target);
      if (target.protocol === 'https:' && next.protocol === 'http:') {
        throw new RedirectRefused('A redirect leads from https to http.');
      }
      hop = redirected(hop, status, next.origin === target.origin);
      target = next;
    }
  }

  /** Aborts running requests and closes all connections. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#agent?.destroy();
  }

  async #send(
    target: URL,
    hop: Hop & { readonly signal: AbortSignal },
  ): Promise<Dispatcher.ResponseData> {
    // Loaded with the first request: it takes several megabytes, and many processes send none.
    const { Agent, errors, request } = await import('undici');
    if (this.#closing.signal.aborted) throw new errors.ClientDestroyedError();
    this.#agent ??= new Agent({ connect: { lookup: this.#lookup }, keepAliveTimeout: 10_000 });
    return request(target, { ...hop, dispatcher: this.#agent });
  }
}
