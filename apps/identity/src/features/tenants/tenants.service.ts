import { pullRequestOf } from '@tessera/contracts';
import { HttpError } from '@tessera/http-kit';
import pLimit from 'p-limit';
import { v7 as uuidv7 } from 'uuid';
import type { Action } from '../../activity/actions.ts';
import { type Actor, actorOf } from '../../activity/activity.ts';
import type { DeploymentAutomation } from '../../deployment-automation/deployment-automation.ts';
import type { Origin } from '../../origin/origin.ts';
import type { Caller } from '../../tokens/caller.ts';
import type { DeploymentsRepository } from './deployments.repository.ts';
import type { Provisioning } from './provisioning.ts';
import { changedScaling, type Scaling } from './scaling.ts';
import { demandConfigurable, type MoveName, moved } from './state-machine.ts';
import { configurationOf, type Tenant, type Versions } from './tenant.ts';
import { type Deed, NO_SCALING } from './tenant-in-transaction.ts';
import type { TenantQuery, TenantsRepository, Turn } from './tenants.repository.ts';

/** Who asks, and from where. */
export interface By {
  readonly caller: Caller;
  readonly origin: Origin;
}

interface Dependencies {
  readonly repository: TenantsRepository;
  readonly deployments: DeploymentsRepository;
  readonly automation: DeploymentAutomation;
  readonly provisioning: Provisioning;
}

/** A change holds a connection to the database while deployment automation works: so few are needed. */
const AT_ONCE = 2;
const WAITING = 20;

const actions = {
  suspend: 'tenant_suspended',
  activate: 'tenant_activated',
  retry: 'tenant_retried',
  delete: 'tenant_deleted',
} as const satisfies Record<MoveName, Action>;

/** A system application has no activity of its own. */
const actor = ({ caller, origin }: By): Actor | null =>
  caller.type === 'client' ? null : actorOf(caller, origin);

const deed = (by: By, action: Action): Deed => ({ actor: actor(by), action });

/** The tenant of a turn; 404 where there is none. */
const tenantIn = async (turn: Turn): Promise<Tenant> => turn.tenant ?? (await turn.hold()).tenant;

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

  /**
   * Creates a tenant that is being deployed, with its client; the secret is given this once. That it is
   * about to be created is noted before automation is asked: where it then does not come to be, whatever
   * automation made of the call is taken back.
   */
  create(
    given: {
      readonly slug?: string | undefined;
      readonly name: string;
      readonly plan: string;
    },
    by: By,
  ) {
    const { automation, repository, deployments } = this.#use;
    automation.demandConfigured();
    return this.#inTurn(async () => {
      const id = uuidv7();
      await deployments.intend(id);
      let isAsked = false;
      const deploy = async (tenant: Tenant): Promise<void> => {
        isAsked = true;
        await automation.create(tenant, configurationOf(tenant));
      };
      try {
        return await repository.create({ id, ...given }, actor(by), deploy);
      } catch (error) {
        const noted = isAsked ? deployments.abandon(id) : deployments.forget(id);
        // Where that fails, too, the note itself is still there, and is turned to later.
        await noted.catch(() => undefined);
        throw error;
      }
    });
  }

  /** Moves a tenant; 409 from a state that the move does not begin in. */
  move(id: string, move: MoveName, by: By): Promise<Tenant> {
    if (move === 'suspend') return this.#suspend(id, by);
    return move === 'delete' ? this.#delete(id, by) : this.#deploy(id, move, by);
  }

  /** Suspends a tenant here at once; automation is told after that, until it hears (decision I24). */
  async #suspend(id: string, by: By): Promise<Tenant> {
    const { automation, repository, provisioning } = this.#use;
    automation.demandConfigured();
    const suspended = await repository.changing(id, (held) =>
      held.moveAndTell(moved(held.tenant.status, 'suspend'), deed(by, actions.suspend)),
    );
    await provisioning.attendNow(id);
    return (await repository.find(id)) ?? suspended;
  }

  /** Moves a tenant once automation has accepted it; until then nothing changes (decision I15). */
  #deploy(id: string, move: 'activate' | 'retry', by: By): Promise<Tenant> {
    return this.#deployed(id, async (turn) => {
      const tenant = await tenantIn(turn);
      moved(tenant.status, move);
      await this.#use.automation[move](tenant, configurationOf(tenant));
      const held = await turn.hold();
      const status = moved(held.tenant.status, move);
      return held.moveAsTold(status, turn.revision, deed(by, actions[move]));
    });
  }

  /**
   * Has a tenant taken down. It is `deleting` until automation says that it is gone, and gone at once where
   * automation has nothing of it.
   */
  #delete(id: string, by: By): Promise<Tenant> {
    return this.#deployed(id, async (turn) => {
      const tenant = await tenantIn(turn);
      moved(tenant.status, 'delete');
      const outcome = await this.#use.automation.delete(tenant);
      const held = await turn.hold();
      const status = moved(held.tenant.status, 'delete');
      const deleting = await held.moveAsTold(status, turn.revision, deed(by, actions.delete));
      if (outcome === 'gone') await held.remove();
      return deleting;
    });
  }

  /** Sends the configuration that is stored here to deployment automation. */
  syncConfig(id: string, by: By): Promise<Tenant> {
    return this.#deployed(id, async (turn) => {
      const tenant = await tenantIn(turn);
      demandConfigurable(tenant.status);
      await this.#use.automation.configure(tenant, configurationOf(tenant));
      return (await turn.hold()).change({}, deed(by, 'tenant_config_synced'));
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
    return this.#deployed(id, async (turn) => {
      const tenant = await tenantIn(turn);
      demandConfigurable(tenant.status);
      const change = { versions, ...(prUrl !== undefined && { prUrl }) };
      const known = configurationOf(tenant);
      const answer = await this.#use.automation.setVersions(tenant, change, known);
      const held = await turn.hold();
      demandConfigurable(held.tenant.status);
      const pullRequestUrl = prUrl ?? pullRequestOf(answer);
      const changed = { versions: { ...held.tenant.versions, ...versions }, pullRequestUrl };
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

  #deployed<T>(id: string, work: (turn: Turn) => Promise<T>): Promise<T> {
    this.#use.automation.demandConfigured();
    return this.#inTurn(() => this.#use.repository.inTurn(id, work));
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
