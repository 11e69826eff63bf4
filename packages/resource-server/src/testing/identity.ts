import { randomBytes, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { createPrincipal, type Principal } from '@tessera/contracts';
import { type Listening, listen } from '@tessera/http-kit';
import type { Policy } from '@tessera/scope-matcher';
import { createSigner, type TokenOptions } from './signing.ts';
import { StandInEvents } from './stand-in-events.ts';

export interface Reply {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Announces the whole body, sends half of it, and then closes the connection or stalls. */
  readonly half?: 'cut' | 'stalled';
}

/** Receives the usual answer, created when the request arrived, and returns what is sent instead. */
export type Interceptor = (usual: Reply) => Reply | Promise<Reply>;

export interface Person {
  readonly id: string;
  readonly token: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly principal: Principal;
}

export type PersonOptions = Partial<Principal> & {
  readonly policies?: readonly Policy[];
  readonly token?: TokenOptions;
};

const json = (status: number, content: object): Reply => ({
  status,
  body: JSON.stringify(content),
  headers: { 'content-type': 'application/json' },
});

export const refusal = (status: number, error: string): Reply =>
  json(status, { success: false, message: `Identity says ${error}.`, error });

export const newTenant = (slug: string): Principal['tenants'][number] => ({
  id: randomUUID(),
  slug,
  name: slug,
  plan: 'starter',
  is_active: true,
});

const send = (res: ServerResponse, { status, body, headers = {}, half }: Reply): void => {
  res.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
  if (!half) return void res.end(body);
  res.write(body.slice(0, body.length / 2), () => half === 'cut' && res.destroy());
};

/** The client with which services ask for the rights of principals. */
export const STAND_IN_CLIENT = { id: 'service', secret: 'the secret of the service' } as const;

const RIGHTS_PATH = /^\/api\/tenants\/([^/]+)\/rights\?(.*)$/;

const keyOf = (tenantId: string | null, userId: string): string => `${tenantId} ${userId}`;

/** A stand-in for identity over HTTP: the routes that other services call, with any fault that a test needs. */
export class IdentityStandIn {
  readonly acme = newTenant('acme');
  readonly globex = newTenant('globex');
  signer = createSigner();
  /** Reports each change below. Only consumers within the process receive these events. */
  readonly events = new StandInEvents();
  #server: Listening | undefined;
  readonly #people = new Map<string, Principal>();
  readonly #policies = new Map<string, readonly Policy[]>();
  readonly #versions = new Map<string | null, number>();
  /** Who belongs to which tenant, present or not. */
  readonly #members = new Map<string, Principal>();
  readonly #clientTokens = new Set<string>();
  /** The tenants that `suspend` suspended. */
  readonly #suspended = new Set<string>();
  readonly #interceptors = new Map<string, Interceptor>();
  readonly #requests: IncomingMessage[] = [];
  /** The number of connections that were opened. */
  connections = 0;
  #port = 0;

  /** Starts the server, or restarts it on the same port. */
  async start(): Promise<this> {
    const server = createServer((req, res) => void this.#answer(req, res));
    server.on('connection', () => {
      this.connections += 1;
    });
    this.#server = await listen(server, { host: '127.0.0.1', port: this.#port, variable: 'PORT' });
    this.#port = this.#server.port;
    return this;
  }

  /** Stops the server and closes open connections. */
  async stop(): Promise<void> {
    await this.#server?.stop(0);
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** The number of requests for the rights of principals. */
  get rightsRequests(): number {
    return this.#requests.filter(({ url }) => RIGHTS_PATH.test(url ?? '')).length;
  }

  /** The number of requests for a path. */
  count(path: string): number {
    return this.#requests.filter(({ url }) => url === path).length;
  }

  /** The headers of the last request for a path. */
  lastHeaders(path: string): IncomingMessage['headers'] | undefined {
    return this.#requests.findLast(({ url }) => url === path)?.headers;
  }

  /** Replaces the answers of a path, or of all requests for `rights`, until `restore`. */
  intercept(path: string, interceptor: Interceptor): void {
    this.#interceptors.set(path, interceptor);
  }

  restore(): void {
    this.#interceptors.clear();
  }

  /** Signs in a caller, by default a new user of `acme`. Only clients have the opaque token. */
  signIn(
    { policies = [], token: options, ...given }: PersonOptions = {},
    opaqueToken = randomBytes(48).toString('base64url'),
  ): Person {
    const id = given.id ?? randomUUID();
    const tenants = given.tenants ?? [this.acme];
    const tenantId = given.tenant_id === undefined ? (tenants[0]?.id ?? null) : given.tenant_id;
    const type = given.type ?? 'user';
    const principal = createPrincipal({
      id,
      type,
      is_service_account: type === 'service_account',
      tenant_id: tenantId,
      tenants,
      token_id: randomUUID(),
      session_id: type === 'user' ? randomUUID() : null,
      expires_at: new Date(Date.now() + 3_600_000),
      ...given,
    });
    const claims = { sub: id, ...(principal.token_id && { jti: principal.token_id }) };
    const token = type === 'client' ? opaqueToken : this.signer.sign(claims, options);
    this.#people.set(token, principal);
    this.#members.set(keyOf(tenantId, id), principal);
    this.#policies.set(keyOf(tenantId, id), policies);
    if (!this.#versions.has(tenantId)) this.#versions.set(tenantId, 1);
    return { id, token, headers: { authorization: `Bearer ${token}` }, principal };
  }

  /** Changes the principal of a signed-in caller. */
  change({ token, principal }: Person, to: Partial<Principal>): void {
    const changed = { ...principal, ...to };
    this.#people.set(token, changed);
    this.#members.set(keyOf(principal.tenant_id, principal.id), changed);
    this.events.publish('identity.user.updated', { user_id: principal.id });
  }

  /** Ends the membership of a caller, or deactivates them. */
  remove({ token, principal }: Person): void {
    this.#people.delete(token);
    this.#members.delete(keyOf(principal.tenant_id, principal.id));
    this.events.publish('identity.user.deactivated', { user_id: principal.id });
  }

  /** Suspends a tenant, or activates it again. */
  suspend(tenantId: string, isSuspended = true): void {
    if (isSuspended) this.#suspended.add(tenantId);
    else this.#suspended.delete(tenantId);
    this.events.publish('identity.tenant.status_changed', {
      tenant_id: tenantId,
      status: isSuspended ? 'suspended' : 'active',
    });
  }

  /** Ends all tokens of the services' client. */
  endClientTokens(): void {
    this.#clientTokens.clear();
  }

  /** Changes a member's policies and returns the new version of the tenant's policies. */
  setPolicies({ principal }: Person, policies: readonly Policy[]): number {
    const { tenant_id, id } = principal;
    const version = (this.#versions.get(tenant_id) ?? 0) + 1;
    this.#policies.set(keyOf(tenant_id, id), policies);
    this.#versions.set(tenant_id, version);
    if (tenant_id !== null) {
      this.events.publish('identity.policy.updated', { tenant_id, version, user_ids: [id] });
    }
    return version;
  }

  revoke({ token, principal }: Person): void {
    this.#people.delete(token);
    const { id, type } = principal;
    const revoked = type === 'client' ? { client_id: id } : { user_id: id };
    this.events.publish('identity.token.revoked', { ...revoked, reason: 'revoked' });
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    this.#requests.push(req);
    const usual =
      req.url === '/api/oauth/token' ? this.#clientToken(await text(req)) : this.#usual(req);
    const path = RIGHTS_PATH.test(req.url ?? '') ? 'rights' : (req.url ?? '');
    const interceptor = this.#interceptors.get(path);
    send(res, interceptor ? await interceptor(usual) : usual);
  }

  #usual(req: IncomingMessage): Reply {
    if (req.url === '/.well-known/jwks.json') return json(200, { keys: [this.signer.jwk] });
    const [, tenantId = '', query = ''] = RIGHTS_PATH.exec(req.url ?? '') ?? [];
    const bearer = req.headers.authorization?.replace(/^Bearer /, '') ?? '';
    if (tenantId !== '') {
      if (!this.#clientTokens.has(bearer)) return refusal(401, 'unauthenticated');
      return this.#rightsOf(tenantId, new URLSearchParams(query));
    }
    const principal = this.#people.get(bearer);
    if (!principal) return refusal(401, 'unauthenticated');
    if (req.url === '/api/policies') return this.#policiesOf(principal);
    if (req.url !== '/api/user') return refusal(404, 'not_found');
    return this.#userIn(principal, req.headers['x-tenant']?.toString());
  }

  #clientToken(form: string): Reply {
    const given = new URLSearchParams(form);
    const isClient =
      given.get('client_id') === STAND_IN_CLIENT.id &&
      given.get('client_secret') === STAND_IN_CLIENT.secret;
    if (!isClient) return refusal(401, 'invalid_client');
    const access_token = randomBytes(32).toString('base64url');
    this.#clientTokens.add(access_token);
    return json(200, { access_token, token_type: 'Bearer', expires_in: 3600 });
  }

  #rightsOf(tenantId: string, query: URLSearchParams): Reply {
    const id = query.get('id') ?? '';
    const type = query.get('type');
    const token = query.get('token_id');
    const isService = type === 'client' && id === STAND_IN_CLIENT.id;
    const known = isService
      ? createPrincipal({ id, type: 'client', tenant_id: null, tenants: [] })
      : (this.#members.get(keyOf(tenantId, id)) ?? this.#members.get(keyOf(null, id)));
    const tenant =
      known?.tenants.find((one) => one.id === tenantId) ??
      this.#tenants().find((one) => one.id === tenantId && type === 'client');
    const isActive = tenant?.is_active === true && !this.#suspended.has(tenantId);
    const isHere = known?.type === type && isActive;
    const hasToken =
      token === null || [...this.#people.values()].some((one) => one.token_id === token);
    if (!known || !tenant || !isHere || !hasToken) {
      return json(200, {
        success: true,
        data: { active: false, tenant_slug: null, is_system_admin: false, policies: [] },
      });
    }
    const scopes = (known.scopes ?? []).map((action): Policy => ({ action, effect: 'allow' }));
    const policies = this.#policies.get(keyOf(tenantId, id)) ?? [];
    const data = {
      active: true,
      tenant_slug: tenant.slug,
      is_system_admin: known.is_system_admin,
      policies: type === 'client' ? scopes : policies,
    };
    const limits = token !== null && known.scopes ? { scopes: known.scopes } : {};
    return json(200, { success: true, data: Object.assign(data, limits) });
  }

  /** Every tenant that somebody belongs to. */
  #tenants(): Principal['tenants'][number][] {
    return [this.acme, this.globex, ...[...this.#members.values()].flatMap((one) => one.tenants)];
  }

  #policiesOf({ tenant_id, id }: Principal): Reply {
    const data = this.#policies.get(keyOf(tenant_id, id)) ?? [];
    return json(200, { success: true, data, meta: { version: this.#versions.get(tenant_id) } });
  }

  /** Clients and administrators act in the tenant that X-Tenant names (decision C5). */
  #userIn(principal: Principal, slug: string | undefined): Reply {
    const version = this.#versions.get(principal.tenant_id) ?? null;
    const data = { ...principal, policies_version: principal.policies_version ?? version };
    if (slug === undefined || (principal.type !== 'client' && !principal.is_system_admin)) {
      return json(200, { success: true, data });
    }
    const tenant = [this.acme, this.globex].find((known) => known.slug === slug);
    if (!tenant) return refusal(403, 'tenant_forbidden');
    return json(200, { success: true, data: { ...data, tenant_id: tenant.id, tenants: [tenant] } });
  }
}
