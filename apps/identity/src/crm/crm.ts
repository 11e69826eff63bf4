import { StorageUsage, type StorageUsagePayload } from '@tessera/contracts';
import { type Field, fieldErrors, openShape, optional, validate } from '@tessera/fields';
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
  /**
   * Below CRM's system routes. Of this code's own making: nothing that a caller wrote stands in it but
   * checked ids and numbers.
   */
  readonly path: string;
  readonly body?: unknown;
  /** The versions that a change is meant for (RFC 9110 section 13.1.1), as the caller wrote them. */
  readonly ifMatch?: string | undefined;
}

/** What CRM answered, and the entity tag of what it shows; undefined where it has none. */
export interface CrmAnswer<T> {
  readonly body: T;
  readonly etag: string | undefined;
}

/** Where CRM keeps what services use (decision C19). */
const SYSTEM = '/api/crm/system';

/** A strong entity tag (RFC 9110 section 8.8.3) of a sensible length. */
const ENTITY_TAG = /^"[\x21\x23-\x7e]{1,100}"$/;

const MAX_ANSWER = 4 * 1024 * 1024;

/** 503. */
export const crmNotConfigured = (): HttpError =>
  new HttpError(503, 'crm_not_configured', 'There is no CRM that could be asked.');

/** 502; the cause goes to the log. */
export const crmFailed = (cause: unknown): HttpError =>
  new HttpError(502, 'crm_failed', 'CRM answered with something that cannot be used.', { cause });

/** 412: it is in none of the versions that the caller would change. */
export const preconditionFailed = (): HttpError =>
  new HttpError(412, 'precondition_failed', 'Someone changed it since it was read.');

const Problem = openShape({ errors: optional(fieldErrors()) });
const StorageAnswer = openShape({ data: StorageUsage });

const read = <T>(field: Field<T>, body: string): T => {
  const told = validate(field, JSON.parse(body), 'answer');
  if (told.ok) return told.value as T;
  throw new Error(`CRM: ${Object.values(told.errors).flat().join('; ')}`);
};

/** What its refusals mean to whoever asked identity; its 401 and 403 are about identity, not about them. */
const refusalOf = (status: number, body: string): HttpError => {
  if (status === 404) return notFound('The account');
  if (status === 409)
    return new HttpError(409, 'conflict', 'The tenant has as many accounts as it may have.');
  if (status === 412) return preconditionFailed();
  if (status === 422) return validationFailed(read(Problem, body).errors ?? {});
  const cause = new Error(`CRM answered ${status}.`);
  if (status === 429 || status >= 500) throw cause;
  return crmFailed(cause);
};

/**
 * CRM's system routes (decision C14), where identity acts in a tenant with a token of its own. Its
 * address is configuration and nothing else; of a caller's headers only `If-Match` is forwarded, and no
 * redirect is followed.
 */
export class Crm {
  readonly #settings: CrmSettings | undefined;
  readonly #fetch: (request: Request) => Promise<Response>;

  constructor(settings: CrmSettings | undefined) {
    this.#settings = settings;
    this.#fetch = boundedFetch({ timeoutMs: settings?.timeoutMs ?? 0, maxBytes: MAX_ANSWER });
  }

  get isConfigured(): boolean {
    return this.#settings !== undefined;
  }

  /**
   * The answer to a request, held against `field`. Throws 404, 409, 412 and 422 as CRM says them, 503
   * `crm_not_configured` or `crm_unavailable`, 502 `crm_failed` for what cannot be believed.
   */
  async ask<T>(request: CrmRequest, field: Field<T>): Promise<CrmAnswer<T>> {
    const { text, etag } = await this.#answer(request);
    try {
      return { body: read(field, text), etag };
    } catch (cause) {
      throw crmFailed(cause);
    }
  }

  /** The same for a request that is answered with nothing. */
  async tell(request: CrmRequest): Promise<void> {
    await this.#answer(request);
  }

  async storageUsage(tenantId: string): Promise<StorageUsagePayload> {
    const request = { tenantId, method: 'GET', path: '/storage-usage' } as const;
    return (await this.ask(request, StorageAnswer)).body.data;
  }

  /** Whether it says that it can do its work. */
  async isReady(): Promise<boolean> {
    if (!this.#settings) throw crmNotConfigured();
    return (await this.#fetch(new Request(`${this.#settings.url}/readyz`))).ok;
  }

  async #answer(request: CrmRequest): Promise<{ text: string; etag: string | undefined }> {
    if (!this.#settings) throw crmNotConfigured();
    const { tenantId, method, path, body, ifMatch } = request;
    const { url, token } = this.#settings;
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
      );
      const text = await response.text();
      if (!response.ok) throw refusalOf(response.status, text);
      const etag = response.headers.get('etag') ?? '';
      return { text, etag: ENTITY_TAG.test(etag) ? etag : undefined };
    } catch (error) {
      if (error instanceof HttpError) throw error;
      throw unavailable('crm_unavailable', 'CRM does not answer. Try again later.', error);
    }
  }
}
