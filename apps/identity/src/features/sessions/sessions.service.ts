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
import {
  CommitOutcomeUnknown,
  type SessionsRepository,
  type Switched,
} from './sessions.repository.ts';

/** How long and how often a renewal with an unknown outcome is retried. */
const [RETRY_FOR_MS, RETRY_EVERY_MS] = [2000, 100];
/** Maximum number of renewals with an unknown outcome; more than there are database connections. */
const MAX_UNRESOLVED = 1000;

const tokenReused = (): HttpError =>
  new HttpError(
    422,
    'token_reused',
    'This token was already replaced. All sessions have ended; sign in again.',
  );

const databaseUnavailable = (cause: unknown): HttpError =>
  unavailable('database_unavailable', 'The database is unavailable. Try again.', cause);

type SwitchLifetimes = Parameters<SessionsRepository['switchTenant']>[0]['lifetimes'];

/** Token renewal, sign-out and tenant switch (decisions I4 and I5). */
export class SessionsService {
  readonly #repository: SessionsRepository;
  /** Token lifetimes after a tenant switch in seconds, by flow. */
  readonly #switchLifetimes: SwitchLifetimes;
  /** Ids of successors by the id of the token they may have replaced. */
  readonly #unresolved = new LRUCache<string, string>({ max: MAX_UNRESOLVED });

  constructor(repository: SessionsRepository, switchLifetimes: SwitchLifetimes) {
    this.#repository = repository;
    this.#switchLifetimes = switchLifetimes;
  }

  /**
   * Renews a token. 422 `token_reused` for an already renewed token, which revokes all tokens of the user; 401
   * for a token that was revoked meanwhile.
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

  /** Ends all sessions of a user. */
  logoutAll(caller: UserCaller, origin: Origin): Promise<void> {
    return this.#repository.endAll(actorOf(caller, origin));
  }

  /**
   * Switches to another tenant. 403 for a token of a tenant's or third-party client, which stays in its tenant
   * (decision I19), and if the user is not a member or the tenant is not active. Only administrators get 404
   * for an unknown tenant.
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
   * Guarantees that the client ends up with the new token or with the old one still valid: if the connection
   * breaks during the commit, the renewal is retried with the same successor, now and when the client retries.
   */
  async #renew(caller: UserCaller): Promise<Renewed | 'reused' | 'gone'> {
    const { tokenId } = caller;
    const successorId = this.#unresolved.get(tokenId) ?? uuidv7();
    const deadline = performance.now() + RETRY_FOR_MS;
    for (;;) {
      try {
        const renewed = await this.#repository.renew(caller, successorId);
        this.#unresolved.delete(tokenId);
        return renewed;
      } catch (error) {
        if (error instanceof CommitOutcomeUnknown) this.#unresolved.set(tokenId, successorId);
        if (this.#unresolved.get(tokenId) !== successorId) throw error;
        if (performance.now() > deadline) throw databaseUnavailable(error);
        await pause(RETRY_EVERY_MS);
      }
    }
  }
}
