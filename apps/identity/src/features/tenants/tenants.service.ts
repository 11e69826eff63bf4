import { HttpError } from '@tessera/http-kit';
import pLimit from 'p-limit';
import { v7 as uuidv7 } from 'uuid';
import { type Actor, actorOf } from '../../activity.ts';
import type { Background } from '../../background.ts';
import type {
  Configuration,
  DeploymentAutomation,
} from '../../deployment-automation/deployment-automation.ts';
import type { Origin } from '../../origin.ts';
import type { Caller } from '../../tokens/caller.ts';
import { changedScaling, type Scaling } from './scaling.ts';
import { demandConfigurable, type MoveName, moved } from './state-machine.ts';
import {
  type Deed,
  NO_SCALING,
  type Tenant,
  type TenantInTransaction,
  type TenantQuery,
  type TenantsRepository,
  type Versions,
} from './tenants.repository.ts';

/** Who asks, and from where. */
export interface By {
  readonly caller: Caller;
  readonly origin: Origin;
}

interface Dependencies {
  readonly repository: TenantsRepository;
  readonly automation: DeploymentAutomation;
  readonly background: Background;
}

/** A change holds a connection to the database while deployment automation works: so few are needed. */
const AT_ONCE = 2;
const WAITING = 20;

const actions = {
  suspend: 'tenant_suspended',
  activate: 'tenant_activated',
  retry: 'tenant_retried',
  delete: 'tenant_deleted',
} as const satisfies Record<MoveName, string>;

/** A system application has no activity of its own. */
const actor = ({ caller, origin }: By): Actor | null =>
  caller.type === 'client' ? null : actorOf(caller, origin);

const deed = (by: By, action: string): Deed => ({ actor: actor(by), action });

const configurationOf = ({ slug, name, plan, versions, scaling }: Tenant): Configuration => ({
  ...{ slug, name, plan, versions, scaling },
});

/** The administration of tenants (identity.md section 4.11, decisions I13 to I15). */
export class TenantsService {
  readonly #use: Dependencies;
  readonly #turn = pLimit(AT_ONCE);

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  list(query: TenantQuery): Promise<{ tenants: Tenant[]; page: number; total: number }> {
    return this.#use.repository.list(query);
  }

  show(id: string): Promise<Tenant> {
    return this.#use.repository.show(id);
  }

  /** Makes a tenant that is being deployed, with its client; the secret is given this once. */
  create(
    given: {
      readonly slug?: string | undefined;
      readonly name: string;
      readonly plan: string;
    },
    by: By,
  ) {
    const { automation, repository, background } = this.#use;
    automation.demandConfigured();
    const deploy = async (tenant: Tenant): Promise<void> => {
      await automation.create(tenant, configurationOf(tenant)).catch((error: unknown) => {
        // Whatever it made of the call, there is no tenant: what it may have begun is taken back.
        background.run('a deployment without a tenant was not taken back', async () => {
          await automation.delete(tenant);
        });
        throw error;
      });
    };
    return this.#inTurn(() => repository.create({ id: uuidv7(), ...given }, actor(by), deploy));
  }

  /**
   * Moves a tenant once deployment automation has accepted it; until then nothing is changed and nothing
   * is logged as done. 409 from a state that the move does not begin in.
   */
  move(id: string, move: MoveName, by: By): Promise<Tenant> {
    const { automation } = this.#use;
    return this.#deployed(id, async (held) => {
      const { tenant } = held;
      const status = moved(tenant.status, move);
      if (move === 'retry') await automation.retry(tenant, configurationOf(tenant));
      else await automation[move](tenant);
      return held.move(status, deed(by, actions[move]));
    });
  }

  /** Sends the configuration that is stored here to deployment automation. */
  syncConfig(id: string, by: By): Promise<Tenant> {
    return this.#deployed(id, async (held) => {
      demandConfigurable(held.tenant.status);
      await this.#use.automation.configure(held.tenant, configurationOf(held.tenant));
      return held.change({}, deed(by, 'tenant_config_synced'));
    });
  }

  /**
   * Deploys other versions of the services that are named. The pull request is the one that was given,
   * or the one that deployment automation says it made.
   */
  setVersions(
    id: string,
    { versions, prUrl }: { readonly versions: Versions; readonly prUrl: string | undefined },
    by: By,
  ): Promise<Tenant> {
    return this.#deployed(id, async (held) => {
      const { tenant } = held;
      demandConfigurable(tenant.status);
      const answer = await this.#use.automation.setVersions(tenant, {
        versions,
        ...(prUrl !== undefined && { prUrl }),
      });
      const pullRequestUrl = prUrl ?? answer.prUrl ?? answer.pr_url ?? null;
      const changed = { versions: { ...tenant.versions, ...versions }, pullRequestUrl };
      return held.change(changed, deed(by, 'tenant_versions_updated'));
    });
  }

  /** Keeps another scaling configuration; `syncConfig` sends it on. 422 where it makes no sense. */
  changeScaling(
    id: string,
    changes: Parameters<typeof changedScaling>[1],
    by: By,
  ): Promise<Tenant> {
    return this.#use.repository.changing(id, (held) => {
      const scaling: Scaling = changedScaling(held.tenant.scaling, changes);
      return held.change({ scaling }, deed(by, 'tenant_scaling_updated'));
    });
  }

  /** Returns to the plan's defaults. */
  resetScaling(id: string, by: By): Promise<Tenant> {
    return this.#use.repository.changing(id, (held) =>
      held.change({ scaling: NO_SCALING }, deed(by, 'tenant_scaling_reset')),
    );
  }

  /** A tenant, and how far deployment automation is with it: null where it has nothing of it. */
  async provisioning(id: string) {
    const { repository, automation } = this.#use;
    const tenant = await repository.show(id);
    return { tenant, deployment: await automation.status(id) };
  }

  #deployed<T>(id: string, work: (held: TenantInTransaction) => Promise<T>): Promise<T> {
    this.#use.automation.demandConfigured();
    return this.#inTurn(() => this.#use.repository.changing(id, work));
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#turn.activeCount + this.#turn.pendingCount >= AT_ONCE + WAITING) {
      throw new HttpError(503, 'overloaded', 'Too many tenants are being changed. Try again.', {
        headers: { 'Retry-After': '5' },
      });
    }
    return this.#turn(work);
  }
}
