import { isDeepStrictEqual } from 'node:util';
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
import { nextStatus, requireConfigurable, type TransitionName } from './state-machine.ts';
import { configurationOf, type Tenant, type Versions } from './tenant.ts';
import { type ActivityRecord, NO_SCALING } from './tenant-in-transaction.ts';
import type { ExclusiveTenant, TenantQuery, TenantsRepository } from './tenants.repository.ts';

/** The caller of a change and the origin of the request. */
export interface ChangeAuthor {
  readonly caller: Caller;
  readonly origin: Origin;
}

interface Dependencies {
  readonly repository: TenantsRepository;
  readonly deployments: DeploymentsRepository;
  readonly automation: DeploymentAutomation;
  readonly provisioning: Provisioning;
}

/** Each change holds a database connection while it calls deployment automation. */
const MAX_CONCURRENT = 2;
const MAX_QUEUED = 20;

const actions = {
  suspend: 'tenant_suspended',
  activate: 'tenant_activated',
  retry: 'tenant_retried',
  delete: 'tenant_deleted',
} as const satisfies Record<TransitionName, Action>;

/** Null for a system application, which has no activity log. */
const actorOrNull = ({ caller, origin }: ChangeAuthor): Actor | null =>
  caller.type === 'client' ? null : actorOf(caller, origin);

const activity = (author: ChangeAuthor, action: Action): ActivityRecord => ({
  actor: actorOrNull(author),
  action,
});

/** The tenant; 404 if it does not exist. */
const existingTenant = async (exclusive: ExclusiveTenant): Promise<Tenant> =>
  exclusive.tenant ?? (await exclusive.lock()).tenant;

/** Administration of tenants (identity.md section 4.11, decisions I13 to I15). */
export class TenantsService {
  readonly #use: Dependencies;
  readonly #queue = pLimit(MAX_CONCURRENT);

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
   * Creates a tenant in state `provisioning` with its client and secret. The creation is recorded before
   * automation is called, so that the deployment is removed if the creation fails afterwards.
   */
  create(
    given: {
      readonly slug?: string | undefined;
      readonly name: string;
      readonly plan: string;
    },
    author: ChangeAuthor,
  ) {
    const { automation, repository, deployments } = this.#use;
    automation.requireConfigured();
    return this.#limited(async () => {
      const id = uuidv7();
      await deployments.recordIntent(id);
      let isDeployCalled = false;
      const deploy = async (tenant: Tenant): Promise<void> => {
        isDeployCalled = true;
        await automation.create(tenant, configurationOf(tenant));
      };
      try {
        return await repository.create({ id, ...given }, actorOrNull(author), deploy);
      } catch (error) {
        const cleanup = isDeployCalled
          ? deployments.scheduleCleanup(id)
          : deployments.deleteRecord(id);
        // If this fails too, the record remains and is handled later.
        await cleanup.catch(() => undefined);
        throw error;
      }
    });
  }

  /** Changes the status of a tenant; 409 if the current state does not allow it. */
  move(id: string, move: TransitionName, author: ChangeAuthor): Promise<Tenant> {
    if (move === 'suspend') return this.#suspend(id, author);
    return move === 'delete' ? this.#delete(id, author) : this.#deploy(id, move, author);
  }

  /**
   * Suspends a tenant immediately; automation is notified afterwards, with retries (decision I24).
   */
  async #suspend(id: string, author: ChangeAuthor): Promise<Tenant> {
    const { automation, repository, provisioning } = this.#use;
    automation.requireConfigured();
    const suspended = await repository.changing(id, (locked) =>
      locked.moveAndQueueSync(
        nextStatus(locked.tenant.status, 'suspend'),
        activity(author, actions.suspend),
      ),
    );
    await provisioning.handleNow(id);
    return (await repository.find(id)) ?? suspended;
  }

  /**
   * Changes the status after automation has accepted it; until then nothing changes (decision I15).
   */
  #deploy(id: string, move: 'activate' | 'retry', author: ChangeAuthor): Promise<Tenant> {
    return this.#withAutomation(id, async (exclusive) => {
      const tenant = await existingTenant(exclusive);
      nextStatus(tenant.status, move);
      await this.#use.automation[move](tenant, configurationOf(tenant));
      const locked = await exclusive.lock();
      const status = nextStatus(locked.tenant.status, move);
      return locked.moveAfterSync(status, exclusive.revision, activity(author, actions[move]));
    });
  }

  /**
   * Removes the deployment of a tenant. The tenant is `deleting` until automation reports that the deployment
   * is gone, and is deleted immediately if there is none.
   */
  #delete(id: string, author: ChangeAuthor): Promise<Tenant> {
    return this.#withAutomation(id, async (exclusive) => {
      const tenant = await existingTenant(exclusive);
      nextStatus(tenant.status, 'delete');
      const outcome = await this.#use.automation.delete(tenant);
      const locked = await exclusive.lock();
      const status = nextStatus(locked.tenant.status, 'delete');
      const record = activity(author, actions.delete);
      return outcome === 'gone'
        ? locked.removeAfterSync(status, exclusive.revision, record)
        : locked.moveAfterSync(status, exclusive.revision, record);
    });
  }

  /** Sends the stored configuration to deployment automation. */
  syncConfig(id: string, author: ChangeAuthor): Promise<Tenant> {
    return this.#withAutomation(id, async (exclusive) => {
      const tenant = await existingTenant(exclusive);
      requireConfigurable(tenant.status);
      await this.#use.automation.configure(tenant, configurationOf(tenant));
      return (await exclusive.lock()).change({}, activity(author, 'tenant_config_synced'));
    });
  }

  /**
   * Deploys other versions of the given services. The pull request is the given one or else the one reported by
   * deployment automation, which is not asked for what the tenant has already.
   */
  setVersions(
    id: string,
    { versions, prUrl }: { readonly versions: Versions; readonly prUrl: string | undefined },
    author: ChangeAuthor,
  ): Promise<Tenant> {
    return this.#withAutomation(id, async (exclusive) => {
      const tenant = await existingTenant(exclusive);
      requireConfigurable(tenant.status);
      const isOther =
        Object.entries(versions).some(
          ([service, version]) => tenant.versions[service as keyof Versions] !== version,
        ) ||
        (prUrl !== undefined && prUrl !== tenant.pullRequestUrl);
      if (!isOther) return tenant;
      const change = { versions, ...(prUrl !== undefined && { prUrl }) };
      const current = configurationOf(tenant);
      const response = await this.#use.automation.setVersions(tenant, change, current);
      const locked = await exclusive.lock();
      requireConfigurable(locked.tenant.status);
      const pullRequestUrl = prUrl ?? pullRequestOf(response);
      const changed = { versions: { ...locked.tenant.versions, ...versions }, pullRequestUrl };
      return locked.change(changed, activity(author, 'tenant_versions_updated'));
    });
  }

  /** Stores a scaling configuration, which `syncConfig` sends. 422 if it is inconsistent. */
  changeScaling(
    id: string,
    changes: Parameters<typeof changedScaling>[1],
    author: ChangeAuthor,
  ): Promise<Tenant> {
    return this.#use.repository.changing(id, async (locked) => {
      const scaling: Scaling = changedScaling(locked.tenant.scaling, changes);
      if (isDeepStrictEqual(scaling, locked.tenant.scaling)) return locked.tenant;
      return locked.change({ scaling }, activity(author, 'tenant_scaling_updated'));
    });
  }

  /** Resets the scaling configuration to the plan's defaults. */
  resetScaling(id: string, author: ChangeAuthor): Promise<Tenant> {
    return this.#use.repository.changing(id, (locked) =>
      locked.change({ scaling: NO_SCALING }, activity(author, 'tenant_scaling_reset')),
    );
  }

  /** The tenant and the status of its deployment; null if there is none. */
  async provisioning(id: string) {
    const { repository, automation } = this.#use;
    const tenant = await repository.show(id);
    return { tenant, deployment: await automation.status(id) };
  }

  #withAutomation<T>(id: string, work: (exclusive: ExclusiveTenant) => Promise<T>): Promise<T> {
    this.#use.automation.requireConfigured();
    return this.#limited(() => this.#use.repository.exclusively(id, work));
  }

  async #limited<T>(work: () => Promise<T>): Promise<T> {
    if (this.#queue.activeCount + this.#queue.pendingCount >= MAX_CONCURRENT + MAX_QUEUED) {
      throw new HttpError(503, 'overloaded', 'Too many tenants are being changed. Try again.', {
        headers: { 'Retry-After': '5' },
      });
    }
    return this.#queue(work);
  }
}
