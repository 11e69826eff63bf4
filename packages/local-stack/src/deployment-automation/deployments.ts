import type { DeploymentPayload } from '@tessera/contracts';

/** What becomes of a tenant that is being deployed, when somebody next asks. */
export type Outcome = 'active' | 'failed' | 'provisioning';

type State = DeploymentPayload['state'];

/** The tenants that the stand-in runs. One that it does not know was deployed before it started. */
export class Deployments {
  readonly #states = new Map<string, State>();
  readonly #forgotten = new Set<string>();
  outcome: Outcome = 'active';
  /** What it says of every deployment besides, right or wrong. */
  answer: object = {};

  /** From now on there is no deployment of the tenant, until one is created. */
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
    return this.#told(tenantId);
  }

  /** As far as it is: what was begun when it was asked for the last time is done by now. */
  look(tenantId: string): DeploymentPayload {
    const state = this.stateOf(tenantId);
    if (state === 'provisioning') return this.move(tenantId, this.outcome);
    return state === 'deleting' ? this.move(tenantId, 'gone') : this.#told(tenantId);
  }

  #told(tenantId: string): DeploymentPayload {
    const state = this.stateOf(tenantId);
    const steps = {
      provisioning: [
        { name: 'database', state: 'done' },
        { name: 'services', state: 'running' },
      ],
      failed: [
        { name: 'database', state: 'done' },
        { name: 'services', state: 'failed', message: 'There is no room.' },
      ],
    } as const satisfies Partial<Record<State, unknown>>;
    const known = state === 'provisioning' || state === 'failed' ? steps[state] : [];
    return { tenant_id: tenantId, state, steps: [...known], ...this.answer };
  }
}
