import { StorageUsage, type StorageUsagePayload } from '@tessera/contracts';
import {
  type Field,
  fieldErrors,
  int,
  nullable,
  oneOf,
  openShape,
  optional,
  text,
  validate,
} from '@tessera/fields';
import { HttpError, notFound, unavailable, validationFailed } from '@tessera/http-kit';
import { boundedFetch } from '@tessera/outbound-http';

export interface CrmSettings {
  readonly url: string;
  readonly token: string;
  readonly timeoutMs: number;
}

export interface CrmRequest {
  readonly tenantId: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path below CRM's system routes, built from validated ids and numbers only. */
  readonly path: string;
  readonly body?: unknown;
  /** The caller's `If-Match` (RFC 9110 section 13.1.1). */
  readonly ifMatch?: string | undefined;
  /** For a request that takes CRM longer than the configured timeout. */
  readonly timeoutMs?: number;
}

/** CRM's answer with its entity tag; undefined without one. */
export interface CrmAnswer<T> {
  readonly body: T;
  readonly etag: string | undefined;
}

/** The prefix of CRM's system routes (decision C19). */
const SYSTEM = '/api/crm/system';

/** A strong entity tag (RFC 9110 section 8.8.3) of a sensible length. */
const ENTITY_TAG = /^"[\x21\x23-\x7e]{1,100}"$/;

const MAX_ANSWER = 4 * 1024 * 1024;

/** 503: CRM is not configured. */
export const crmNotConfigured = (): HttpError =>
  new HttpError(503, 'crm_not_configured', 'No CRM is configured.');

/** 502: CRM's answer cannot be used; the cause is logged. */
export const crmFailed = (cause: unknown): HttpError =>
  new HttpError(502, 'crm_failed', 'CRM sent an invalid response.', { cause });

/** 412: the current version does not match `If-Match`. */
export const preconditionFailed = (): HttpError =>
  new HttpError(412, 'precondition_failed', 'The resource has changed since it was read.');

const Problem = openShape({ errors: optional(fieldErrors()) });

/** A message that was not accepted, and why. */
const NotSent = openShape({
  error: oneOf('message_not_sent'),
  message: text(1000),
  step: text(100),
  reply_code: nullable(int(0, 999)),
  reply_detail: nullable(text(100)),
});

const notSent = (status: number, body: string): HttpError | null => {
  const found = validate(NotSent, JSON.parse(body), 'answer');
  if (!found.ok) return null;
  const { error, message, step, reply_code, reply_detail } = found.value;
  return new HttpError(status, error, message, { details: { step, reply_code, reply_detail } });
};
const StorageAnswer = openShape({ data: StorageUsage });

const read = <T>(field: Field<T>, body: string): T => {
  const result = validate(field, JSON.parse(body), 'answer');
  if (result.ok) return result.value as T;
  throw new Error(`CRM: ${Object.values(result.errors).flat().join('; ')}`);
};

/** CRM's errors as those of identity; 401 and 403 concern identity, not its caller. */
const errorOf = (status: number, body: string): HttpError => {
  if (status === 404) return notFound('The account');
  if (status === 409)
    return new HttpError(409, 'conflict', 'The tenant has as many accounts as it may have.');
  if (status === 412) return preconditionFailed();
  if (status === 422 || status === 502) {
    const refusal = notSent(status, body);
    if (refusal) return refusal;
  }
  if (status === 422) return validationFailed(read(Problem, body).errors ?? {});
  const cause = new Error(`CRM answered ${status}.`);
  if (status === 429 || status >= 500) throw cause;
  return crmFailed(cause);
};

/**
 * Client of CRM's system routes (decision C14), which act in a tenant and take a system token. The address comes
 * from the configuration only, `If-Match` is the only forwarded header, and redirects are not followed.
 */
export class Crm {
  readonly #settings: CrmSettings | undefined;

  constructor(settings: CrmSettings | undefined) {
    this.#settings = settings;
  }

  get isConfigured(): boolean {
    return this.#settings !== undefined;
  }

  /**
   * The answer to a request, validated against `field`. Throws CRM's 404, 409, 412, 422 and `message_not_sent`, 503
   * `crm_not_configured` or `crm_unavailable`, and 502 `crm_failed` for an invalid answer.
   */
  async ask<T>(request: CrmRequest, field: Field<T>): Promise<CrmAnswer<T>> {
    const { text, etag } = await this.#answer(request);
    try {
      return { body: read(field, text), etag };
    } catch (cause) {
      throw crmFailed(cause);
    }
  }

  /** The same for a request whose answer has no body. */
  async tell(request: CrmRequest): Promise<void> {
    await this.#answer(request);
  }

  async storageUsage(tenantId: string): Promise<StorageUsagePayload> {
    const request = { tenantId, method: 'GET', path: '/storage-usage' } as const;
    return (await this.ask(request, StorageAnswer)).body.data;
  }

  /** Whether CRM reports that it is healthy. */
  async isReady(): Promise<boolean> {
    if (!this.#settings) throw crmNotConfigured();
    return (await this.#fetch(new Request(`${this.#settings.url}/readyz`), this.#settings)).ok;
  }

  #fetch(request: Request, { timeoutMs }: { readonly timeoutMs: number }): Promise<Response> {
    return boundedFetch({ timeoutMs, maxBytes: MAX_ANSWER })(request);
  }

  async #answer(request: CrmRequest): Promise<{ text: string; etag: string | undefined }> {
    if (!this.#settings) throw crmNotConfigured();
    const { tenantId, method, path, body, ifMatch } = request;
    const { url, token, timeoutMs } = this.#settings;
    const deadline = { timeoutMs: Math.max(timeoutMs, request.timeoutMs ?? 0) };
    const headers = {
      accept: 'application/json',
      'x-system-token': token,
      'x-tenant-id': tenantId,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(ifMatch !== undefined && { 'if-match': ifMatch }),
    };
    const sent = body === undefined ? null : JSON.stringify(body);
    try {
      const response = await this.#fetch(
        new Request(url + SYSTEM + path, { method, headers, body: sent }),
        deadline,
      );
      const answered = await response.text();
      if (!response.ok) throw errorOf(response.status, answered);
      const etag = response.headers.get('etag') ?? '';
      return { text: answered, etag: ENTITY_TAG.test(etag) ? etag : undefined };
    } catch (error) {
      if (error instanceof HttpError) throw error;
      throw unavailable('crm_unavailable', 'CRM does not answer. Try again later.', error);
    }
  }
}
