import { randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type Operation, operations } from './contract.ts';
import { Deployments } from './deployments.ts';

/**
 * Faults of a response: timeout, closed connection, empty body, no JSON, unexpected JSON, too large, redirect;
 * or a status with a message. `lost`: the call is executed but its response is lost.
 */
export type Fault =
  | 'silent'
  | 'cut'
  | 'empty'
  | 'garbage'
  | 'meaningless'
  | 'huge'
  | 'redirect'
  | 'lost'
  | number;

/** A received call. */
export interface Call {
  readonly operation: string;
  readonly tenantId: string | undefined;
  readonly key: string | undefined;
  readonly body: unknown;
  readonly headers: IncomingMessage['headers'];
}

interface PlannedResponse {
  readonly status: number;
  readonly body: unknown;
}

type Handler = (deployments: Deployments, tenantId: string, body: unknown) => PlannedResponse;

const accepted =
  (state: Parameters<Deployments['move']>[1]): Handler =>
  (deployments, tenantId) => ({ status: 202, body: deployments.move(tenantId, state) });

const unchanged: Handler = (deployments, tenantId) => ({
  status: 202,
  body: deployments.move(tenantId, deployments.stateOf(tenantId)),
});

const handlers: Readonly<Record<string, Handler>> = {
  getHealth: () => ({ status: 200, body: { status: 'ok' } }),
  getDeployment: (deployments, tenantId) => ({ status: 200, body: deployments.poll(tenantId) }),
  createDeployment: (deployments, tenantId) => ({
    status: 202,
    body: deployments.create(tenantId),
  }),
  retryDeployment: accepted('provisioning'),
  deleteDeployment: accepted('deleting'),
  suspendDeployment: accepted('suspended'),
  activateDeployment: accepted('active'),
  configureDeployment: unchanged,
  setVersions: unchanged,
};

const unhandled = operations.filter(({ id }) => !handlers[id]).map(({ id }) => id);
if (unhandled.length > 0)
  throw new Error(`The stand-in does not implement ${unhandled.join(', ')}.`);

const refusal = (status: number, message: string): PlannedResponse => ({
  status,
  body: { message },
});

const send = (res: ServerResponse, { status, body }: PlannedResponse): void => {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

const HUGE = 8 * 1024 * 1024;

const fail = (fault: Fault, res: ServerResponse, answer: PlannedResponse, url: string): void => {
  if (typeof fault === 'number') return void send(res, refusal(fault, 'The operation failed.'));
  const failures: Readonly<Record<Exclude<Fault, number>, () => void>> = {
    silent: () => undefined,
    cut: () => res.destroy(),
    empty: () => res.writeHead(answer.status).end(),
    garbage: () => res.writeHead(answer.status).end('<html>'),
    meaningless: () => send(res, { ...answer, body: {} }),
    huge: () => send(res, { ...answer, body: { padding: 'x'.repeat(HUGE) } }),
    lost: () => res.destroy(),
    redirect: () => res.writeHead(307, { location: `${url}/elsewhere` }).end(),
  };
  failures[fault]();
};

const parsed = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
};

const HOST = '127.0.0.1';

/**
 * Replaces deployment automation, which is outside this project (decision I15), in `npm start` and in tests. It
 * is driven by the contract: it implements its operations, rejects invalid requests, and throws if its own
 * responses violate it. It listens on loopback, stores nothing, and does not keep the process alive.
 */
export class DeploymentAutomationStandIn {
  readonly token = randomBytes(32).toString('base64url');
  readonly deployments = new Deployments();
  /** In the order of arrival. */
  readonly calls: Call[] = [];
  readonly #faults = new Map<string, Fault>();
  readonly #answered = new Map<string, PlannedResponse>();
  /** Runs before a response is sent, which waits for it. */
  before: (call: Call) => Promise<void> | void = () => undefined;
  readonly #server = createServer((req, res) => {
    this.#serve(req, res).catch((error: unknown) => {
      console.error(error);
      res.destroy();
    });
  });

  async start(): Promise<this> {
    this.#server.listen(0, HOST).unref();
    await once(this.#server, 'listening');
    return this;
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  get url(): string {
    return `http://${HOST}:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Environment variables that make identity use it. */
  get environment(): { DEPLOYMENT_AUTOMATION_URL: string; DEPLOYMENT_AUTOMATION_TOKEN: string } {
    return { DEPLOYMENT_AUTOMATION_URL: this.url, DEPLOYMENT_AUTOMATION_TOKEN: this.token };
  }

  /** Makes an operation fail until `restore`. Failing calls are not executed. */
  break(operation: string, fault: Fault): void {
    this.#faults.set(operation, fault);
  }

  restore(): void {
    this.#faults.clear();
    this.before = () => undefined;
  }

  /** The calls of one operation. */
  callsOf(operation: string): Call[] {
    return this.calls.filter((call) => call.operation === operation);
  }

  async #serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const path = req.url?.split('?')[0] ?? '';
    const operation = operations.find(
      ({ method, address }) => method === req.method && address.test(path),
    );
    const body = parsed(await text(req));
    const call: Call = {
      operation: operation?.id ?? `${req.method} ${path}`,
      tenantId: operation?.address.exec(path)?.groups?.tenant_id,
      key: req.headers['idempotency-key']?.toString(),
      body,
      headers: req.headers,
    };
    this.calls.push(call);
    await this.before(call);
    if (!operation) return send(res, refusal(404, 'There is no such operation.'));
    const refused = this.#refusal(operation, call);
    if (refused) return send(res, refused);
    const fault = this.#faults.get(operation.id);
    if (this.#isUnknown(operation, call))
      return send(res, refusal(404, 'There is no such deployment.'));
    if (fault === 'lost') this.#answer(operation, call);
    if (fault !== undefined) return fail(fault, res, { status: 202, body }, this.url);
    const answer = this.#answer(operation, call);
    // Fields added by tests may violate the contract.
    if (Object.keys(this.deployments.extraFields).length === 0) {
      operation.requireDeclaredResponse(answer.status, answer.body);
    }
    send(res, answer);
  }

  #refusal(
    { needsKey, problem }: Operation,
    { key, body, headers }: Call,
  ): PlannedResponse | undefined {
    const presented = Buffer.from(headers.authorization ?? '');
    const expected = Buffer.from(`Bearer ${this.token}`);
    if (presented.length !== expected.length || !timingSafeEqual(presented, expected)) {
      return refusal(401, 'The token is invalid.');
    }
    if (needsKey && !key) return refusal(400, 'Idempotency-Key is required.');
    const wrong = problem(body);
    return wrong === undefined ? undefined : refusal(422, wrong);
  }

  #isUnknown({ id }: Operation, { tenantId }: Call): boolean {
    if (tenantId === undefined || id === 'createDeployment') return false;
    return !this.deployments.knows(tenantId);
  }

  /** A call with the idempotency key of an earlier one is not executed again. */
  #answer({ id }: Operation, { tenantId = '', key, body }: Call): PlannedResponse {
    const known = key === undefined ? undefined : this.#answered.get(key);
    const answer = known ?? (handlers[id] as Handler)(this.deployments, tenantId, body);
    if (key !== undefined) this.#answered.set(key, answer);
    return answer;
  }
}
