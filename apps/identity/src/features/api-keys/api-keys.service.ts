import type { PermissionRegistry } from '@tessera/contracts';
import { HttpError, invalidField, notFound } from '@tessera/http-kit';
import type { Rights } from '@tessera/scope-matcher';
import { coversPattern } from '@tessera/scope-matcher';
import { tenantForbidden } from '../../access/access.ts';
import { requireScopesOfTenant } from '../../access/known-policy.ts';
import { noteOf } from '../../activity/activity.ts';
import { created } from '../../activity/changes.ts';
import type { Transaction } from '../../database.ts';
import { MAX_API_KEYS, requireBelow } from '../../lists/maximum.ts';
import type { Origin } from '../../origin/origin.ts';
import { enqueue } from '../../outbox/outbox.ts';
import type { Caller, UserCaller } from '../../tokens/caller.ts';
import { requireCredentials } from '../../tokens/origin.ts';
import { revokeToken } from '../../tokens/revoke.ts';
import { lockUsers } from '../../users/users.ts';
import type { Member } from '../members/member.ts';
import type { MemberContext, MembersService } from '../members/members.service.ts';
import type { MembersReader } from '../members/members.transaction.ts';
import { memberRights, requireCallerHolds } from '../members/rights.ts';
import type {
  ServiceAccountRef,
  ServiceAccountsService,
} from '../service-accounts/service-accounts.service.ts';
import type { ApiKey, ApiKeyRef, ApiKeysRepository, IssuedKey } from './api-keys.repository.ts';

export interface NewKey {
  readonly name: string;
  readonly expiresAt: Date | undefined;
  readonly scopes: readonly string[] | undefined;
}

interface Dependencies {
  readonly repository: ApiKeysRepository;
  readonly members: MembersService;
  readonly accounts: ServiceAccountsService;
  readonly permissions: PermissionRegistry;
  /** In seconds. */
  readonly lifetimes: { readonly usual: number; readonly longest: number };
}

/** JWT times are whole seconds. */
const wholeSecond = (milliseconds: number): number => Math.floor(milliseconds / 1000) * 1000;

const activityOf = ({ tenantId }: ServiceAccountRef, { id }: ApiKey) => ({
  tenantId,
  subjectId: id,
});

/**
 * 403 unless the caller is a member of the tenant, whatever their permissions (specification 5.10).
 */
const requireMembership = (caller: Caller, tenantId: string): void => {
  if (caller.type !== 'client' && caller.tenants.some(({ id }) => id === tenantId)) return;
  throw tenantForbidden();
};

/**
 * The caller, if authenticated by an API key: keys created with it get at most its lifetime and scopes
 * (decision I19).
 */
const apiKeyCaller = (caller: Caller): UserCaller | undefined =>
  caller.type !== 'client' && caller.tokenUse === 'api_key' ? caller : undefined;

/**
 * 403 if a key created or rotated with an API key would expire later or have wider scopes than that key.
 */
const requireWithinKey = (
  caller: Caller,
  { expiresAt, scopes }: Pick<ApiKey, 'expiresAt' | 'scopes'>,
): void => {
  const own = apiKeyCaller(caller);
  if (!own) return;
  const { scopes: allowed } = own;
  const covers = (scope: string): boolean =>
    allowed === undefined || allowed.some((pattern) => coversPattern(pattern, scope));
  const isNarrower = allowed === undefined || (scopes?.every(covers) ?? false);
  if (+expiresAt <= +own.expiresAt && isNarrower) return;
  const limit = isNarrower ? 'expire later than' : 'have wider scopes than';
  const message = `The new key must not ${limit} the key you are using. Ask a user with access to create it.`;
  throw new HttpError(403, 'permission_denied', message);
};

/** The account's permissions limited by a key's scopes: the most that a key can grant. */
const rightsLimitedTo = (account: Member, scopes: readonly string[] | undefined): Rights => ({
  ...memberRights(account),
  scopes,
});

const isOver = ({ isRevoked, expiresAt }: ApiKey): boolean => isRevoked || +expiresAt <= Date.now();

/**
 * API keys of service accounts (decision I11). A key has the account's permissions, limited by its scopes.
 */
export class ApiKeysService {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  /** One page of an account's keys, including revoked and expired ones. */
  async list(
    caller: Caller,
    account: ServiceAccountRef,
    page: { readonly page: number; readonly perPage: number },
  ): ReturnType<ApiKeysRepository['list']> {
    requireMembership(caller, account.tenantId);
    await this.#use.accounts.show(account);
    return this.#use.repository.list(account, page);
  }

  /**
   * Creates a key. 422 if `expiresAt` has passed; 403 if the account holds permissions within the scopes that
   * the caller does not. A key created with an API key expires no later than that key; 403 if its scopes are
   * wider, or missing although that key has some.
   */
  create(
    caller: Caller,
    account: ServiceAccountRef,
    given: NewKey,
    origin: Origin,
  ): Promise<IssuedKey> {
    const { name, scopes } = given;
    const expiresAt = this.#expiryOf(given.expiresAt, apiKeyCaller(caller)?.expiresAt);
    const terms = { name, ...(scopes && { scopes }), expiresAt };
    requireWithinKey(caller, terms);
    return this.#forAccount(caller, account, async ({ holder, tx }, owner) => {
      requireScopesOfTenant(this.#use.permissions, holder.slug, scopes);
      requireCallerHolds(holder, rightsLimitedTo(owner, scopes));
      requireBelow(MAX_API_KEYS, await this.#use.repository.countValid(tx, account));
      const issued = await this.#use.repository.add(tx, account, terms);
      const changes = created({ name, scopes, expires_at: issued.expiresAt });
      const details = { ...activityOf(account, issued), changes };
      await noteOf(tx, caller, origin, 'api_key_created', details);
      return issued;
    });
  }

  /**
   * Replaces a key with one of the same name, scopes and expiry; the old one stops working. 403 as for
   * creating, or if the caller's own key expires earlier or has narrower scopes; 409 if the key is revoked or
   * expired.
   */
  rotate(caller: Caller, keyRef: ApiKeyRef, origin: Origin): Promise<IssuedKey> {
    return this.#forKey(caller, keyRef, async ({ holder, tx }, owner, old) => {
      requireWithinKey(caller, old);
      requireCallerHolds(holder, rightsLimitedTo(owner, old.scopes));
      if (isOver(old)) {
        throw new HttpError(
          409,
          'conflict',
          'The key is revoked or has expired. Create a new one.',
        );
      }
      const issued = await this.#use.repository.add(tx, keyRef, old);
      await noteOf(tx, caller, origin, 'api_key_rotated', activityOf(keyRef, issued));
      await this.#end(tx, keyRef, 'key_rotated');
      return issued;
    });
  }

  /** Revokes a key; no effect on a revoked key. */
  revoke(caller: Caller, keyRef: ApiKeyRef, origin: Origin): Promise<void> {
    return this.#forKey(caller, keyRef, async ({ tx }, _owner, key) => {
      if (key.isRevoked) return;
      await noteOf(tx, caller, origin, 'api_key_revoked', activityOf(keyRef, key));
      await this.#end(tx, keyRef, 'key_revoked');
    });
  }

  /**
   * Serializes changes to an account's keys. 404 if the account does not exist; 401 if the caller has been signed out,
   * or their key revoked, meanwhile.
   */
  #forAccount<T>(
    caller: Caller,
    { tenantId, userId }: ServiceAccountRef,
    work: (context: MemberContext<MembersReader>, owner: Member) => Promise<T>,
  ): Promise<T> {
    requireMembership(caller, tenantId);
    const { members, accounts } = this.#use;
    return members.reading(caller, tenantId, async (context) => {
      // An API key is itself a key that another one may be ending: both accounts are locked, so that two keys that
      // end each other do so one after the other.
      if (caller.type !== 'client' && caller.sessionId === null) {
        await lockUsers(context.tx, [caller.id, userId]);
      }
      const account = await accounts.locked(context.tx, context.members, userId);
      if (caller.type !== 'client') await requireCredentials(context.tx, caller);
      return work(context, account);
    });
  }

  #forKey<T>(
    caller: Caller,
    keyRef: ApiKeyRef,
    work: (context: MemberContext<MembersReader>, owner: Member, key: ApiKey) => Promise<T>,
  ): Promise<T> {
    return this.#forAccount(caller, keyRef, async (context, owner) => {
      const key = await this.#use.repository.find(context.tx, keyRef);
      if (!key) throw notFound('The API key');
      return work(context, owner, key);
    });
  }

  async #end(
    tx: Transaction,
    { keyId, userId }: ApiKeyRef,
    reason: 'key_rotated' | 'key_revoked',
  ): Promise<void> {
    await enqueue(tx, await revokeToken(tx, { tokenId: keyId, userId }, reason));
  }

  /**
   * When a new key expires: as requested, but no later than the maximum lifetime or `latestByCallerKey`. 422 if
   * that has passed.
   */
  #expiryOf(requested: Date | undefined, latestByCallerKey?: Date): Date {
    const { usual, longest } = this.#use.lifetimes;
    const now = wholeSecond(Date.now());
    const latest = now + longest * 1000;
    const end = wholeSecond(requested ? +requested : now + usual * 1000);
    if (end <= Date.now()) throw invalidField('expires_at', 'must be in the future');
    return new Date(Math.min(end, latest, latestByCallerKey ? +latestByCallerKey : end));
  }
}
