import type { DeploymentPayload } from '@tessera/contracts';

/** What becomes of a tenant that is being deployed, when somebody next asks. */
export type Outcome = 'active' | 'failed' | 'provisioning';

type State = DeploymentPayload['state'];

/** The tenants that the stand-in runs. One that it does not know was deployed before it started. */
export class Deployments {
  readonly #states = new Map<string, State>();
  outcome: Outcome = 'active';

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
    return { tenant_id: tenantId, state, steps: [...known] };
  }
}
