import { StorageUsage, type StorageUsagePayload } from '@tessera/contracts';
import { type Field, list, mapOf, openShape, optional, text, validate } from '@tessera/fields';
import { HttpError, notFound, unavailable, validationFailed } from '@tessera/http-kit';
import { boundedFetch } from '../outbound.ts';

export interface CrmSettings {
  readonly url: string;
  readonly token: string;
  readonly timeoutMs: number;
}

export interface CrmRequest {
  readonly tenantId: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Of this code's own making: nothing that a caller wrote stands in it but checked ids and numbers. */
  readonly path: string;
  readonly body?: unknown;
}

const MAX_ANSWER = 4 * 1024 * 1024;

const notConfigured = (): HttpError =>
  new HttpError(503, 'crm_not_configured', 'There is no CRM that could be asked.');

const crmFailed = (cause: unknown): HttpError =>
  new HttpError(502, 'crm_failed', 'CRM answered with something that cannot be used.', { cause });

const Problem = openShape({ errors: optional(mapOf(list(text(1000)), 1000)) });
const StorageAnswer = openShape({ data: StorageUsage });

const read = <T>(field: Field<T>, body: string): T => {
  const told = validate(field, JSON.parse(body), 'answer');
  if (told.ok) return told.value as T;
  throw new Error(`CRM: ${Object.values(told.errors).flat().join('; ')}`);
};

/** What its refusals mean to whoever asked identity; its 401 and 403 are about identity, not about them. */
const refusalOf = (status: number, body: string): HttpError => {
  if (status === 404) return notFound('The account');
  if (status === 409) return new HttpError(409, 'conflict', 'CRM has as many as it may have.');
  if (status === 422) return validationFailed(read(Problem, body).errors ?? {});
  const cause = new Error(`CRM answered ${status}.`);
  if (status === 429 || status >= 500) throw cause;
  return crmFailed(cause);
};

/**
 * CRM's system routes (decision C14), where identity acts in a tenant with a token of its own. Its
 * address is configuration and nothing else; no header of a caller is sent on, no redirect followed.
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
   * The answer to a request, held against `field`. Throws 404, 409 and 422 as CRM says them, 503
   * `crm_not_configured` or `crm_unavailable`, 502 `crm_failed` for what cannot be believed.
   */
  async ask<T>(request: CrmRequest, field: Field<T>): Promise<T> {
    const body = await this.#answer(request);
    try {
      return read(field, body);
    } catch (cause) {
      throw crmFailed(cause);
    }
  }

  /** The same for a request that is answered with nothing. */
  async tell(request: CrmRequest): Promise<void> {
    await this.#answer(request);
  }

  async storageUsage(tenantId: string): Promise<StorageUsagePayload> {
    const request = { tenantId, method: 'GET', path: '/system/storage-usage' } as const;
    return (await this.ask(request, StorageAnswer)).data;
  }

  /** Whether it says that it can do its work. */
  async isReady(): Promise<boolean> {
    if (!this.#settings) throw notConfigured();
    return (await this.#fetch(new Request(`${this.#settings.url}/readyz`))).ok;
  }

  async #answer({ tenantId, method, path, body }: CrmRequest): Promise<string> {
    if (!this.#settings) throw notConfigured();
    const { url, token } = this.#settings;
    const headers = {
      accept: 'application/json',
      'x-system-token': token,
      'x-tenant-id': tenantId,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    const sent = body === undefined ? null : JSON.stringify(body);
    try {
      const response = await this.#fetch(new Request(url + path, { method, headers, body: sent }));
      const text = await response.text();
      if (!response.ok) throw refusalOf(response.status, text);
      return text;
    } catch (error) {
      if (error instanceof HttpError) throw error;
      throw unavailable('crm_unavailable', 'CRM does not answer. Try again later.', error);
    }
  }
}
