import { createHash } from 'node:crypto';
import { Deployment, type DeploymentPayload } from '@tessera/contracts';
import {
  type components,
  createDeploymentAutomationClient,
} from '@tessera/deployment-automation-client';
import { validate } from '@tessera/fields';
import { HttpError } from '@tessera/http-kit';
import { boundedFetch } from '@tessera/outbound-http';

export interface DeploymentAutomationSettings {
  readonly url: string;
  readonly token: string;
  readonly timeoutMs: number;
}

type Schemas = components['schemas'];
/** The configuration of a deployment. */
export type Configuration = Schemas['Configuration'];
export type VersionChange = Schemas['VersionChange'];

/** A tenant in its state at the time of a call. */
export interface Deployed {
  readonly id: string;
  /** Changes with every change of the tenant. */
  readonly updatedAt: Date;
  /** Whether it is suspended, and must be so again if its deployment is created again. */
  readonly status?: string;
}

const MAX_ANSWER = 256 * 1024;

/** 503: deployment automation is not configured. */
export const notConfigured = (): HttpError =>
  new HttpError(
    503,
    'deployment_automation_not_configured',
    'No deployment automation is configured; nothing was changed.',
  );

/** 502: the answer cannot be used; the cause is logged. */
export const failed = (cause: unknown): HttpError =>
  new HttpError(
    502,
    'deployment_automation_failed',
    'Deployment automation failed or rejected the request; nothing was changed.',
    { cause },
  );

/** Deployment automation does not know the tenant. */
class UnknownDeployment extends Error {}

/** 404, and 410 for deleted deployments. */
const GONE: readonly number[] = [404, 410];

const isUnknown = (error: unknown): boolean =>
  error instanceof HttpError && error.cause instanceof UnknownDeployment;

type Client = ReturnType<typeof createDeploymentAutomationClient>;

interface Answered {
  readonly data?: unknown;
  readonly error?: unknown;
  readonly response: Response;
}

type Ask = (client: Client) => Promise<Answered>;

/** The idempotency key: equal for the same call for the same tenant in the same state. */
const keyOf = (operation: string, { id, updatedAt }: Deployed, body: unknown): string => {
  const hash = createHash('sha256').update(JSON.stringify(body ?? null));
  return `${operation}:${id}:${updatedAt.getTime()}:${hash.digest('base64url').slice(0, 22)}`;
};

const deploymentOf = (tenantId: string, text: string): DeploymentPayload => {
  const result = validate(Deployment, JSON.parse(text), 'answer');
  if (!result.ok) throw new Error(Object.values(result.errors).flat().join('; '));
  const deployment = result.value as DeploymentPayload;
  if (deployment.tenant_id !== tenantId) throw new Error('The answer is about another tenant.');
  return deployment;
};

/**
 * Client of deployment automation, an external service that runs the tenants (decision I15). A call resolves when
 * the service has accepted the request. Otherwise it throws 503 `deployment_automation_not_configured`, without a
 * request, or 502 `deployment_automation_failed` for a timeout, an invalid answer or an error status.
 */
export class DeploymentAutomation {
  readonly #client: Client | undefined;

  constructor(settings: DeploymentAutomationSettings | undefined) {
    if (!settings) return;
    this.#client = createDeploymentAutomationClient({
      baseUrl: settings.url,
      headers: { authorization: `Bearer ${settings.token}` },
      fetch: boundedFetch({ timeoutMs: settings.timeoutMs, maxBytes: MAX_ANSWER }),
    });
  }

  get isConfigured(): boolean {
    return this.#client !== undefined;
  }

  /** Throws 503 if deployment automation is not configured. */
  requireConfigured(): void {
    this.#configured();
  }

  create(tenant: Deployed, body: Configuration): Promise<DeploymentPayload> {
    const of = this.#call('create', tenant, body);
    return this.#deployment(tenant.id, (client) =>
      client.PUT('/deployments/{tenant_id}', { ...of, body }),
    );
  }

  /** Retries a failed deployment; creates it if automation does not know it. */
  retry(tenant: Deployed, body: Configuration): Promise<DeploymentPayload> {
    const of = this.#call('retry', tenant, body);
    const retried = this.#deployment(tenant.id, (client) =>
      client.POST('/deployments/{tenant_id}/retry', { ...of, body }),
    );
    return retried.catch((error: unknown) => {
      if (isUnknown(error)) return this.create(tenant, body);
      throw error;
    });
  }

  suspend(tenant: Deployed, known: Configuration): Promise<DeploymentPayload> {
    const of = this.#call('suspend', tenant);
    return this.#made(tenant, known, (client) =>
      client.POST('/deployments/{tenant_id}/suspend', of),
    );
  }

  activate(tenant: Deployed, known: Configuration): Promise<DeploymentPayload> {
    const of = this.#call('activate', tenant);
    return this.#made(tenant, known, (client) =>
      client.POST('/deployments/{tenant_id}/activate', of),
    );
  }

  /** Deletes a deployment; `gone` if automation does not know it (404, 410). */
  async delete(tenant: Deployed): Promise<'accepted' | 'gone'> {
    const of = this.#call('delete', tenant);
    try {
      const { state } = await this.#deployment(tenant.id, (client) =>
        client.DELETE('/deployments/{tenant_id}', of),
      );
      return state === 'gone' ? 'gone' : 'accepted';
    } catch (error) {
      if (isUnknown(error)) return 'gone';
      throw error;
    }
  }

  configure(tenant: Deployed, body: Configuration): Promise<DeploymentPayload> {
    const of = this.#call('configure', tenant, body);
    return this.#changed(tenant, body, (client) =>
      client.PUT('/deployments/{tenant_id}/configuration', { ...of, body }),
    );
  }

  setVersions(
    tenant: Deployed,
    body: VersionChange,
    known: Configuration,
  ): Promise<DeploymentPayload> {
    const of = this.#call('versions', tenant, body);
    return this.#changed(tenant, known, (client) =>
      client.PUT('/deployments/{tenant_id}/versions', { ...of, body }),
    );
  }

  /** The state of a deployment; null if there is none. Repeated once on failure, since it changes nothing. */
  async status(tenantId: string): Promise<DeploymentPayload | null> {
    const ask = (client: Client) =>
      client.GET('/deployments/{tenant_id}', {
        params: { path: { tenant_id: tenantId } },
        parseAs: 'text',
      });
    const answered = await this.#answered((client) => ask(client).catch(() => ask(client)));
    if (GONE.includes(answered.response.status)) return null;
    return this.#understood(tenantId, answered);
  }

  /** Whether it reports that it is healthy. */
  async isHealthy(): Promise<boolean> {
    const { response } = await this.#answered((client) =>
      client.GET('/health', { parseAs: 'text' }),
    );
    return response.ok;
  }

  #call(operation: string, tenant: Deployed, body?: unknown) {
    return {
      params: {
        path: { tenant_id: tenant.id },
        header: { 'Idempotency-Key': keyOf(operation, tenant, body) },
      },
      parseAs: 'text',
    } as const;
  }

  #configured(): Client {
    if (!this.#client) throw notConfigured();
    return this.#client;
  }

  async #answered(ask: Ask): Promise<Answered> {
    const client = this.#configured();
    try {
      return await ask(client);
    } catch (cause) {
      throw failed(cause);
    }
  }

  /** Requests a change of a deployment; creates it first if automation does not know it. */
  async #made(tenant: Deployed, known: Configuration, ask: Ask): Promise<DeploymentPayload> {
    try {
      return await this.#deployment(tenant.id, ask);
    } catch (error) {
      if (!isUnknown(error)) throw error;
    }
    await this.create(tenant, known);
    return this.#deployment(tenant.id, ask);
  }

  /** The same for a change during which a suspended tenant remains suspended. */
  async #changed(tenant: Deployed, known: Configuration, ask: Ask): Promise<DeploymentPayload> {
    try {
      return await this.#deployment(tenant.id, ask);
    } catch (error) {
      if (!isUnknown(error)) throw error;
    }
    if (tenant.status === 'suspended') await this.suspend(tenant, known);
    else await this.create(tenant, known);
    return this.#deployment(tenant.id, ask);
  }

  async #deployment(tenantId: string, ask: Ask): Promise<DeploymentPayload> {
    return this.#understood(tenantId, await this.#answered(ask));
  }

  #understood(tenantId: string, { data, response }: Answered): DeploymentPayload {
    try {
      const { ok, status } = response;
      const refused = `Deployment automation answered ${status}.`;
      if (GONE.includes(status)) throw new UnknownDeployment(refused);
      if (!ok) throw new Error(refused);
      return deploymentOf(tenantId, String(data ?? ''));
    } catch (cause) {
      throw failed(cause);
    }
  }
}
