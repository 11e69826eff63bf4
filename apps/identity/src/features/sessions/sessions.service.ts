import { setTimeout as pause } from 'node:timers/promises';
import { HttpError, notFound, unavailable } from '@tessera/http-kit';
import { LRUCache } from 'lru-cache';
import { v7 as uuidv7 } from 'uuid';
import { activeTenant, tenantForbidden } from '../../access/access.ts';
import { actorOf } from '../../activity/activity.ts';
import type { Origin } from '../../origin/origin.ts';
import { invalidToken } from '../../tokens/authenticate.ts';
import type { CallerTenant, UserCaller } from '../../tokens/caller.ts';
import type { Renewed } from '../../tokens/renew.ts';
import { CommitInDoubt, type SessionsRepository, type Switched } from './sessions.repository.ts';

/** How long, and how often, a database is asked that did not say whether it committed. */
const [ASK_MS, PAUSE_MS] = [2000, 100];
/** Renewals of which nobody knows whether they were recorded; more at once than a database has connections. */
const IN_DOUBT = 1000;

const tokenReused = (): HttpError =>
  new HttpError(
    422,
    'token_reused',
    'This token was replaced before. Everything was signed out: sign in again.',
  );

const databaseUnavailable = (cause: unknown): HttpError =>
  unavailable('database_unavailable', 'The database does not answer. Try again.', cause);

type SwitchLifetimes = Parameters<SessionsRepository['switchTenant']>[0]['lifetimes'];

/** How users stay signed in, and get out (decisions I4 and I5). */
export class SessionsService {
  readonly #repository: SessionsRepository;
  /** Seconds that a token of a tenant switch lives, by the flow that it comes from. */
  readonly #switchLifetimes: SwitchLifetimes;
  /** Successors by the token that they may or may not have replaced. */
  readonly #inDoubt = new LRUCache<string, string>({ max: IN_DOUBT });

  constructor(repository: SessionsRepository, switchLifetimes: SwitchLifetimes) {
    this.#repository = repository;
    this.#switchLifetimes = switchLifetimes;
  }

  /**
   * Exchanges a token for a new one of the same chain. One that was exchanged before ends everything that
   * the user has: 422 `token_reused`. 401 for one that was revoked meanwhile.
   */
  async refresh(caller: UserCaller, origin: Origin): Promise<Renewed> {
    const renewed = await this.#renew(caller);
    if (renewed === 'gone') throw invalidToken();
    if (renewed !== 'reused') return renewed;
    if (caller.sessionId) {
      await this.#repository.endReusedChain(actorOf(caller, origin), caller.sessionId);
    }
    throw tokenReused();
  }

  /** Signs a user out everywhere. */
  logoutAll(caller: UserCaller, origin: Origin): Promise<void> {
    return this.#repository.endAll(actorOf(caller, origin));
  }

  /**
   * Exchanges a token for one of another tenant. 403 for a token of a tenant's or a third-party client,
   * which stays where it was issued (decision I19), and where the user is no member or the tenant is not
   * active; only administrators learn (404) that there is no such tenant.
   */
  async switchTenant(
    caller: UserCaller,
    tenantId: string,
    origin: Origin,
  ): Promise<Switched & { readonly tenant: CallerTenant }> {
    if (caller.clientKind !== 'first_party') throw tenantForbidden();
    const found = caller.tenants.find(({ id }) => id === tenantId) ?? null;
    if (!found && caller.isSystemAdmin && !(await this.#repository.isTenant(tenantId))) {
      throw notFound('The tenant');
    }
    const tenant = activeTenant({ ...caller, tenant: found });
    const actor = { ...actorOf(caller, origin), tenantId };
    const lifetimes = this.#switchLifetimes;
    const switched = await this.#repository.switchTenant({ caller, actor, tenantId, lifetimes });
    if (switched === 'left') throw tenantForbidden();
    if (switched === 'gone') throw invalidToken();
    return { ...switched, tenant };
  }

  /**
   * The client ends up with the new token, or with the old one still good: where a connection breaks while
   * the database commits, it is asked again what it did, now and when the client comes back.
   */
  async #renew(caller: UserCaller): Promise<Renewed | 'reused' | 'gone'> {
    const { tokenId } = caller;
    const successorId = this.#inDoubt.get(tokenId) ?? uuidv7();
    const deadline = performance.now() + ASK_MS;
    for (;;) {
      try {
        const renewed = await this.#repository.renew(caller, successorId);
        this.#inDoubt.delete(tokenId);
        return renewed;
      } catch (error) {
        if (error instanceof CommitInDoubt) this.#inDoubt.set(tokenId, successorId);
        if (this.#inDoubt.get(tokenId) !== successorId) throw error;
        if (performance.now() > deadline) throw databaseUnavailable(error);
        await pause(PAUSE_MS);
      }
    }
  }
}
