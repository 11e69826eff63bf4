import { randomBytes, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { isDeepStrictEqual } from 'node:util';
import { type Listening, listen } from '@tessera/http-kit';

/** A request that the stand-in has received. */
export interface RecordedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
}

interface JsonResponse {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

type Account = Record<string, unknown> & { readonly id: string };

const ACCOUNTS = /^\/api\/crm\/system\/(email|sms)\/accounts(?:\/([0-9a-f-]{36})(\/test)?)?$/;

const json = (body: string): Record<string, unknown> | undefined =>
  body === '' ? undefined : (JSON.parse(body) as Record<string, unknown>);

/** CRM's system routes as identity sees them, over HTTP, with every fault that they may have. */
export class CrmStandIn {
  readonly token = randomBytes(32).toString('base64url');
  readonly requests: RecordedRequest[] = [];
  /** Answers in the place of the usual one; nothing: does not answer at all. */
  instead: ((request: RecordedRequest) => JsonResponse | undefined) | undefined;
  readonly #accounts = new Map<string, Account>();
  readonly #credentials = new Map<string, unknown>();
  readonly #versions = new Map<string, number>();
  #server: Listening | undefined;

  async start(): Promise<this> {
    const server = createServer((req, res) => void this.#serve(req, res));
    this.#server = await listen(server, { host: '127.0.0.1', port: 0, variable: 'PORT' });
    return this;
  }

  async stop(): Promise<void> {
    await this.#server?.stop(0);
  }

  get url(): string {
    return this.#server?.url ?? '';
  }

  /** The variables that make identity use it. */
  get environment(): { CRM_URL: string; CRM_SYSTEM_TOKEN: string } {
    return { CRM_URL: this.url, CRM_SYSTEM_TOKEN: this.token };
  }

  async #serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = req;
    const request: RecordedRequest = { method, url, headers, body: json(await text(req)) };
    this.requests.push(request);
    const answer = this.instead ? this.instead(request) : this.#usual(request);
    if (!answer) return;
    const { status, body } = answer;
    res.writeHead(status, { 'content-type': 'application/json', ...answer.headers });
    res.end(typeof body === 'string' || body === undefined ? body : JSON.stringify(body));
  }

  #usual({ method, url, headers, body }: RecordedRequest): JsonResponse {
    if (url === '/readyz') return { status: 200, body: { status: 'ok' } };
    if (headers['x-system-token'] !== this.token) return { status: 401, body: {} };
    const tenantId = `${headers['x-tenant-id']}`;
    if (url === '/api/crm/system/storage-usage') return this.#usage();
    const [, channel = '', id, test] = ACCOUNTS.exec(url.split('?')[0] ?? '') ?? [];
    if (channel === '') return { status: 404, body: {} };
    const keyOf = (of: string) => `${tenantId} ${channel} ${of}`;
    if (method === 'GET' && !id) return this.#page(keyOf(''));
    if (method === 'POST' && !id) return this.#keep(201, keyOf, { id: randomUUID() }, body);
    const known = this.#accounts.get(keyOf(id ?? ''));
    if (!known) return { status: 404, body: { error: 'not_found' } };
    if (test) return { status: 200, body: { data: { sent: true, message_id: 'm1' } } };
    const tag = this.#tagOf(known);
    if ((headers['if-match'] ?? tag) !== tag) return { status: 412, body: {} };
    if (method === 'PUT') return this.#keep(200, keyOf, known, body);
    if (method === 'DELETE') this.#accounts.delete(keyOf(known.id));
    return method === 'DELETE' ? { status: 204 } : this.#one(200, known);
  }

  #keep(
    status: number,
    keyOf: (id: string) => string,
    before: Account,
    body: unknown,
  ): JsonResponse {
    const { credentials, ...given } = body as Record<string, unknown>;
    const has_credentials = credentials ? true : (before.has_credentials ?? false);
    const isSame = isDeepStrictEqual({ ...before, ...given, has_credentials }, before);
    const former = this.#credentials.get(before.id);
    if (isSame && (credentials === undefined || isDeepStrictEqual(credentials, former))) {
      return this.#one(status, before);
    }
    const at = new Date().toISOString();
    const account = { created_at: at, ...before, ...given, has_credentials, updated_at: at };
    if (credentials !== undefined) this.#credentials.set(before.id, credentials);
    this.#accounts.set(keyOf(before.id), account);
    this.#versions.set(account.id, (this.#versions.get(account.id) ?? 0) + 1);
    return this.#one(status, account);
  }

  #one(status: number, account: Account): JsonResponse {
    return { status, body: { data: account }, headers: { etag: this.#tagOf(account) } };
  }

  #tagOf({ id }: Account): string {
    return `"${this.#versions.get(id)}"`;
  }

  #page(prefix: string): JsonResponse {
    const all = [...this.#accounts].filter(([key]) => key.startsWith(prefix));
    const data = all.map(([, account]) => account).slice(0, 100);
    const meta = { current_page: 1, last_page: 1, per_page: 20, total: data.length };
    return { status: 200, body: { data, meta, links: {} } };
  }

  #usage(): JsonResponse {
    const tables = [{ name: 'contacts', rows: 3, bytes: 8192 }];
    const data = { rows: 3, bytes: 8192, tables, measured_at: new Date().toISOString() };
    return { status: 200, body: { data } };
  }
}
