import type { DeploymentPayload } from '@tessera/contracts';

/** The result of a running deployment at the next status request. */
export type Outcome = 'active' | 'failed' | 'provisioning';

type State = DeploymentPayload['state'];

/** The deployments of the stand-in. Unknown tenants count as deployed before its start. */
export class Deployments {
  readonly #states = new Map<string, State>();
  readonly #forgotten = new Set<string>();
  outcome: Outcome = 'active';
  /** Additional fields of every status response, valid or not. */
  extraFields: object = {};

  /** Makes the deployment of the tenant unknown until it is created. */
  forget(tenantId: string): void {
    this.#states.delete(tenantId);
    this.#forgotten.add(tenantId);
  }

  knows(tenantId: string): boolean {
    return !this.#forgotten.has(tenantId);
  }

  create(tenantId: string): DeploymentPayload {
    this.#forgotten.delete(tenantId);
    return this.move(tenantId, 'provisioning');
  }

  stateOf(tenantId: string): State {
    return this.#states.get(tenantId) ?? 'active';
  }

  move(tenantId: string, state: State): DeploymentPayload {
    this.#states.set(tenantId, state);
    return this.#statusOf(tenantId);
  }

  /** The status of a deployment; an operation in progress completes at the next status request. */
  poll(tenantId: string): DeploymentPayload {
    const state = this.stateOf(tenantId);
    if (state === 'provisioning') return this.move(tenantId, this.outcome);
    return state === 'deleting' ? this.move(tenantId, 'gone') : this.#statusOf(tenantId);
  }

  #statusOf(tenantId: string): DeploymentPayload {
    const state = this.stateOf(tenantId);
    const steps = {
      provisioning: [
        { name: 'database', state: 'done' },
        { name: 'services', state: 'running' },
      ],
      failed: [
        { name: 'database', state: 'done' },
        { name: 'services', state: 'failed', message: 'There is no capacity.' },
      ],
    } as const satisfies Partial<Record<State, unknown>>;
    const known = state === 'provisioning' || state === 'failed' ? steps[state] : [];
    return { tenant_id: tenantId, state, steps: [...known], ...this.extraFields };
  }
}
