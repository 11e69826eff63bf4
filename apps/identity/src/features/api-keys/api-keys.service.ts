import { knowledgeOf } from '@tessera/contracts';
import { HttpError, invalidField, notFound } from '@tessera/http-kit';
import type { Rights } from '@tessera/scope-matcher';
import { tenantForbidden } from '../../access/access.ts';
import { noteOf } from '../../activity/activity.ts';
import type { Transaction } from '../../database.ts';
import { coversPattern } from '../../oauth/system/scopes.ts';
import type { Origin } from '../../origin/origin.ts';
import { enqueue } from '../../outbox/outbox.ts';
import type { Caller, UserCaller } from '../../tokens/caller.ts';
import { revokeToken } from '../../tokens/revoke.ts';
import type { Member } from '../members/member.ts';
import type { MembersService, Turn } from '../members/members.service.ts';
import type { MembersToRead } from '../members/members.transaction.ts';
import { demandHeld, rightsOfMember } from '../members/rights.ts';
import type {
  OfAccount,
  ServiceAccountsService,
} from '../service-accounts/service-accounts.service.ts';
import type { ApiKey, ApiKeysRepository, IssuedKey, OfKey } from './api-keys.repository.ts';

export interface NewKey {
  readonly name: string;
  readonly expiresAt: Date | undefined;
  readonly scopes: readonly string[] | undefined;
}

interface Dependencies {
  readonly repository: ApiKeysRepository;
  readonly members: MembersService;
  readonly accounts: ServiceAccountsService;
  /** In seconds. */
  readonly lifetimes: { readonly usual: number; readonly longest: number };
}

/** A JWT tells its times in seconds. */
const wholeSecond = (milliseconds: number): number => Math.floor(milliseconds / 1000) * 1000;

const about = ({ tenantId }: OfAccount, { id }: ApiKey) => ({ tenantId, subjectId: id });

/** 403 unless the caller is a member of the tenant, whatever they hold (specification 5.10). */
const demandMembership = (caller: Caller, tenantId: string): void => {
  if (caller.type !== 'client' && caller.tenants.some(({ id }) => id === tenantId)) return;
  throw tenantForbidden();
};

/** The API key that the caller presents: what comes out of it has at most its lifetime and scopes (decision I19). */
const keyOfCaller = (caller: Caller): UserCaller | undefined =>
  caller.type !== 'client' && caller.tokenUse === 'api_key' ? caller : undefined;

/** 403 where a key that is made or rotated with a key would outlive it, or reach further. */
const demandWithinKey = (
  caller: Caller,
  { expiresAt, scopes }: Pick<ApiKey, 'expiresAt' | 'scopes'>,
): void => {
  const own = keyOfCaller(caller);
  if (!own) return;
  const { scopes: allowed } = own;
  const covers = (scope: string): boolean =>
    allowed === undefined || allowed.some((pattern) => coversPattern(pattern, scope));
  const isNarrower = allowed === undefined || (scopes?.every(covers) ?? false);
  if (+expiresAt <= +own.expiresAt && isNarrower) return;
  const limit = isNarrower ? 'expire later than' : 'have wider scopes than';
  const message = `The new key may not ${limit} the key you are using. Ask a person with access to create it.`;
  throw new HttpError(403, 'permission_denied', message);
};

/** What an account holds within the scopes of a key: more than that no key gives. */
const rightsWithin = (account: Member, scopes: readonly string[] | undefined): Rights => ({
  ...rightsOfMember(account),
  scopes,
});

const isOver = ({ isRevoked, expiresAt }: ApiKey): boolean => isRevoked || +expiresAt <= Date.now();

/** Scopes that are known and cover no permission themselves, such as `identity.*` (decision B7). */
export const idleScopes = (scopes: readonly string[]): string[] =>
  scopes.filter((scope) => {
    const knowledge = knowledgeOf(scope);
    return knowledge.known && knowledge.covers === 0;
  });

/** API keys of service accounts (decision I11): what they may do is what the account may, within scopes. */
export class ApiKeysService {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  /** The keys of an account, those that are over included, a page at a time. */
  async list(
    caller: Caller,
    account: OfAccount,
    asked: { readonly page: number; readonly perPage: number },
  ): ReturnType<ApiKeysRepository['list']> {
    demandMembership(caller, account.tenantId);
    await this.#use.accounts.show(account);
    return this.#use.repository.list(account, asked);
  }

  /**
   * Makes a key. 422 for an expiry that has passed; 403 where the account holds more
   * within the scopes than the caller. A key that is made with a key ends with it at the latest, and is 403 with
   * scopes beyond those of that key, or without any where that one is limited.
   */
  create(caller: Caller, account: OfAccount, given: NewKey, origin: Origin): Promise<IssuedKey> {
    const { name, scopes } = given;
    const expiresAt = this.#expiryOf(given.expiresAt, keyOfCaller(caller)?.expiresAt);
    const terms = { name, ...(scopes && { scopes }), expiresAt };
    demandWithinKey(caller, terms);
    return this.#forAccount(caller, account, async ({ holder, tx }, owner) => {
      demandHeld(holder, rightsWithin(owner, scopes));
      const issued = await this.#use.repository.add(tx, account, terms);
      await noteOf(tx, caller, origin, 'api_key_created', about(account, issued));
      return issued;
    });
  }

  /**
   * Replaces a key by another one of the same name, scopes and expiry; the old one is good no longer. 403
   * as for creating, and by a key that ends earlier or has narrower scopes; 409 for one that is revoked or has expired.
   */
  rotate(caller: Caller, ofKey: OfKey, origin: Origin): Promise<IssuedKey> {
    return this.#forKey(caller, ofKey, async ({ holder, tx }, owner, old) => {
      demandWithinKey(caller, old);
      demandHeld(holder, rightsWithin(owner, old.scopes));
      if (isOver(old)) {
        throw new HttpError(409, 'conflict', 'The key is revoked or has expired: create another.');
      }
      const issued = await this.#use.repository.add(tx, ofKey, old);
      await noteOf(tx, caller, origin, 'api_key_rotated', about(ofKey, issued));
      await this.#end(tx, ofKey, 'key_rotated');
      return issued;
    });
  }

  /** Makes a key good no longer; one that is so already stays so. */
  revoke(caller: Caller, ofKey: OfKey, origin: Origin): Promise<void> {
    return this.#forKey(caller, ofKey, async ({ tx }, _owner, key) => {
      if (key.isRevoked) return;
      await noteOf(tx, caller, origin, 'api_key_revoked', about(ofKey, key));
      await this.#end(tx, ofKey, 'key_revoked');
    });
  }

  /** Runs a change of an account's keys, one after the other; 404 where there is no such account. */
  #forAccount<T>(
    caller: Caller,
    { tenantId, userId }: OfAccount,
    work: (turn: Turn<MembersToRead>, owner: Member) => Promise<T>,
  ): Promise<T> {
    demandMembership(caller, tenantId);
    const { members, accounts } = this.#use;
    return members.reading(caller, tenantId, async (turn) =>
      work(turn, await accounts.locked(turn.tx, turn.members, userId)),
    );
  }

  #forKey<T>(
    caller: Caller,
    ofKey: OfKey,
    work: (turn: Turn<MembersToRead>, owner: Member, key: ApiKey) => Promise<T>,
  ): Promise<T> {
    return this.#forAccount(caller, ofKey, async (turn, owner) => {
      const key = await this.#use.repository.find(turn.tx, ofKey);
      if (!key) throw notFound('The API key');
      return work(turn, owner, key);
    });
  }

  async #end(
    tx: Transaction,
    { keyId, userId }: OfKey,
    reason: 'key_rotated' | 'key_revoked',
  ): Promise<void> {
    await enqueue(tx, await revokeToken(tx, { tokenId: keyId, userId }, reason));
  }

  /**
   * When a new key ends: as asked for, at most the longest from now and not after `latestOfMaker`; 422 for
   * what has passed.
   */
  #expiryOf(asked: Date | undefined, latestOfMaker?: Date): Date {
    const { usual, longest } = this.#use.lifetimes;
    const now = wholeSecond(Date.now());
    const latest = now + longest * 1000;
    const end = wholeSecond(asked ? +asked : now + usual * 1000);
    if (end <= Date.now()) throw invalidField('expires_at', 'this time has passed');
    return new Date(Math.min(end, latest, latestOfMaker ? +latestOfMaker : end));
  }
}
