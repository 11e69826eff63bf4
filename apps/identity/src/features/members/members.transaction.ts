import { MAX_NAMED_USERS } from '@tessera/contracts';
import type { Policy } from '@tessera/scope-matcher';
import type { Transaction } from '../../database.ts';
import { bumpPolicyVersion, enqueue, type News } from '../../outbox/outbox.ts';
import { type RevocationReason, revokeUserTokens } from '../../tokens/revoke.ts';
import { type Member, memberOf, type Role, roleOf, whole } from './member.ts';

/** Members of a tenant and their roles, as a transaction sees them. */
export class MembersToRead {
  readonly #tx: Transaction;
  readonly #tenantId: string;

  constructor(tx: Transaction, tenantId: string) {
    this.#tx = tx;
    this.#tenantId = tenantId;
  }

  async member(userId: string): Promise<Member | null> {
    const where = { tenantId_userId: { tenantId: this.#tenantId, userId } };
    const row = await this.#tx.membership.findUnique({ where, include: whole });
    return row && memberOf(row);
  }

  /** The tenant's own role of this name, or the built-in one. */
  async role(name: string): Promise<Role | null> {
    const rows = await this.#tx.role.findMany({
      where: { name, OR: [{ tenantId: this.#tenantId }, { tenantId: null }] },
      include: { policies: true },
    });
    const row = rows.find(({ tenantId }) => tenantId !== null) ?? rows[0];
    return row ? roleOf(row) : null;
  }

  /** The tenant's own role of this id, or the built-in one. */
  async roleById(id: string): Promise<Role | null> {
    const row = await this.#tx.role.findUnique({
      where: { id, OR: [{ tenantId: this.#tenantId }, { tenantId: null }] },
      include: { policies: true },
    });
    return row && roleOf(row);
  }

  /** Keeps a role until the transaction ends; false where it is gone. */
  async hold(roleId: string): Promise<boolean> {
    const rows = await this.#tx.$queryRaw<unknown[]>`
      SELECT 1 FROM identity.roles WHERE id = ${roleId}::uuid FOR KEY SHARE`;
    return rows.length > 0;
  }

  /** Whether an active user holds everything, in this tenant as in all. */
  async isSystemAdmin(userId: string): Promise<boolean> {
    const where = { id: userId, isSystemAdmin: true, isActive: true };
    return (await this.#tx.user.count({ where })) > 0;
  }

  /** Whether somebody else can still do everything here: an active owner whom no policy denies anything. */
  async hasOtherOwner(userId: string): Promise<boolean> {
    const other = await this.#tx.membership.findFirst({
      where: {
        tenantId: this.#tenantId,
        userId: { not: userId },
        role: { name: 'owner', tenantId: null },
        user: { isActive: true, isServiceAccount: false },
        policies: { none: { effect: 'deny' } },
      },
    });
    return other !== null;
  }
}

/** Members of a tenant, inside a transaction that changes one of them. */
export class MembersInTransaction extends MembersToRead {
  readonly #tx: Transaction;
  readonly #tenantId: string;

  constructor(tx: Transaction, tenantId: string) {
    super(tx, tenantId);
    this.#tx = tx;
    this.#tenantId = tenantId;
  }

  /** Makes a user a member. The next sign-in of somebody who was in no tenant starts here. */
  async add(userId: string, roleId: string, ...more: News[]): Promise<void> {
    const tenantId = this.#tenantId;
    await this.#tx.membership.create({ data: { tenantId, userId, roleId } });
    await this.#tx.user.updateMany({ where: { id: userId, tenantId: null }, data: { tenantId } });
    await this.#tell(userId, ...more);
  }

  /** Tells what changed besides the members; instead of what a change of theirs tells, not after it. */
  async tell(news: readonly News[]): Promise<void> {
    if (news.length > 0) await enqueue(this.#tx, ...news);
  }

  async change(
    userId: string,
    roleId: string,
    policies: readonly Policy[],
    ...more: News[]
  ): Promise<void> {
    const where = { tenantId: this.#tenantId, userId };
    await this.#tx.membership.update({ where: { tenantId_userId: where }, data: { roleId } });
    await this.#tx.membershipPolicy.deleteMany({ where });
    await this.#tx.membershipPolicy.createMany({
      data: policies.map((policy) => ({ ...where, ...policy })),
      skipDuplicates: true,
    });
    await this.#tell(userId, ...more);
  }

  /** Ends the membership, and every token of the user in the tenant with it. */
  async remove(
    userId: string,
    reason: RevocationReason = 'membership_removed',
    ...more: News[]
  ): Promise<void> {
    const where = { tenantId: this.#tenantId, userId };
    await this.#tx.membership.delete({ where: { tenantId_userId: where } });
    await this.#tx.user.updateMany({
      where: { id: userId, tenantId: this.#tenantId },
      data: { tenantId: null },
    });
    await this.#tell(userId, ...more, await revokeUserTokens(this.#tx, where, reason));
  }

  /** Raises the version and tells that what these members may do has changed; too many to name are everybody. */
  async tellPolicies(userIds: readonly string[], ...more: News[]): Promise<void> {
    const user_ids = userIds.length > MAX_NAMED_USERS ? null : [...userIds];
    const version = await bumpPolicyVersion(this.#tx, this.#tenantId);
    const data = { tenant_id: this.#tenantId, version, user_ids };
    await enqueue(this.#tx, { type: 'identity.policy.updated', data }, ...more);
  }

  #tell(userId: string, ...more: News[]): Promise<void> {
    return this.tellPolicies([userId], ...more);
  }
}
