import { MAX_NAMED_USERS } from '@tessera/contracts';
import type { Policy } from '@tessera/scope-matcher';
import type { Transaction } from '../../database.ts';
import { bumpPolicyVersion, enqueue, type NewEvent } from '../../outbox/outbox.ts';
import { pendingInvitation } from '../../tokens/one-time.ts';
import { type RevocationReason, revokeUserTokens } from '../../tokens/revoke.ts';
import { type Member, memberOf, type Role, roleOf, whole } from './member.ts';

/** Reads members and roles of a tenant within a transaction. */
export class MembersReader {
  readonly #tx: Transaction;
  readonly #tenantId: string;

  constructor(tx: Transaction, tenantId: string) {
    this.#tx = tx;
    this.#tenantId = tenantId;
  }

  /** The slug of the tenant. */
  async slug(): Promise<string> {
    const where = { id: this.#tenantId };
    return (await this.#tx.tenant.findUniqueOrThrow({ where, select: { slug: true } })).slug;
  }

  async member(userId: string): Promise<Member | null> {
    const where = { tenantId_userId: { tenantId: this.#tenantId, userId } };
    const row = await this.#tx.membership.findUnique({ where, include: whole });
    return row && memberOf(row);
  }

  /** The tenant's own role with this name, or else the built-in one. */
  async role(name: string): Promise<Role | null> {
    const rows = await this.#tx.role.findMany({
      where: { name, OR: [{ tenantId: this.#tenantId }, { tenantId: null }] },
      include: { policies: true },
    });
    const row = rows.find(({ tenantId }) => tenantId !== null) ?? rows[0];
    return row ? roleOf(row) : null;
  }

  /** The tenant's own or built-in role with this id. */
  async roleById(id: string): Promise<Role | null> {
    const row = await this.#tx.role.findUnique({
      where: { id, OR: [{ tenantId: this.#tenantId }, { tenantId: null }] },
      include: { policies: true },
    });
    return row && roleOf(row);
  }

  /** Locks a role against deletion until the transaction ends; false if it does not exist. */
  async hold(roleId: string): Promise<boolean> {
    const rows = await this.#tx.$queryRaw<unknown[]>`
      SELECT 1 FROM identity.roles WHERE id = ${roleId}::uuid FOR KEY SHARE`;
    return rows.length > 0;
  }

  /** Whether the user is an active system administrator. */
  async isSystemAdmin(userId: string): Promise<boolean> {
    const where = { id: userId, isSystemAdmin: true, isActive: true };
    return (await this.#tx.user.count({ where })) > 0;
  }

  /** Whether the tenant has another active owner without deny policies. */
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

/** Changes members of a tenant within a transaction. */
export class MembersWriter extends MembersReader {
  readonly #tx: Transaction;
  readonly #tenantId: string;

  constructor(tx: Transaction, tenantId: string) {
    super(tx, tenantId);
    this.#tx = tx;
    this.#tenantId = tenantId;
  }

  /** Adds a member. If the user had no tenant, their sign-ins start in this one. */
  async add(userId: string, roleId: string, ...events: NewEvent[]): Promise<void> {
    const tenantId = this.#tenantId;
    await this.#tx.membership.create({ data: { tenantId, userId, roleId } });
    await this.#tx.user.updateMany({ where: { id: userId, tenantId: null }, data: { tenantId } });
    await this.#publishMember(userId, ...events);
  }

  /**
   * Publishes events if no member changed; the methods that change members publish their own events.
   */
  async publish(events: readonly NewEvent[]): Promise<void> {
    if (events.length > 0) await enqueue(this.#tx, ...events);
  }

  async change(
    userId: string,
    roleId: string,
    policies: readonly Policy[],
    ...events: NewEvent[]
  ): Promise<void> {
    const where = { tenantId: this.#tenantId, userId };
    await this.#tx.membership.update({ where: { tenantId_userId: where }, data: { roleId } });
    await this.#tx.membershipPolicy.deleteMany({ where });
    await this.#tx.membershipPolicy.createMany({
      data: policies.map((policy) => ({ ...where, ...policy })),
      skipDuplicates: true,
    });
    await this.#publishMember(userId, ...events);
  }

  /**
   * Removes a member, revokes their tokens in the tenant, and withdraws the invitations that they sent, which nobody could
   * accept and which would work again if they came back. Returns the number of these.
   */
  async remove(
    userId: string,
    reason: RevocationReason = 'membership_removed',
    ...events: NewEvent[]
  ): Promise<number> {
    const where = { tenantId: this.#tenantId, userId };
    await this.#tx.membership.delete({ where: { tenantId_userId: where } });
    await this.#tx.user.updateMany({
      where: { id: userId, tenantId: this.#tenantId },
      data: { tenantId: null },
    });
    const revocation = await revokeUserTokens(this.#tx, where, reason);
    // Last: others lock users before invitations.
    const { count } = await this.#tx.oneTimeToken.deleteMany({
      where: { ...pendingInvitation(), tenantId: this.#tenantId, inviterId: userId },
    });
    await this.#publishMember(userId, ...events, revocation);
    return count;
  }

  /**
   * Increments the policy version and publishes that the permissions of these members changed. If there are too
   * many to list, the event applies to all members.
   */
  async publishPolicyUpdate(userIds: readonly string[], ...events: NewEvent[]): Promise<void> {
    const user_ids = userIds.length > MAX_NAMED_USERS ? null : [...userIds];
    const version = await bumpPolicyVersion(this.#tx, this.#tenantId);
    const data = { tenant_id: this.#tenantId, version, user_ids };
    await enqueue(this.#tx, { type: 'identity.policy.updated', data }, ...events);
  }

  #publishMember(userId: string, ...events: NewEvent[]): Promise<void> {
    return this.publishPolicyUpdate([userId], ...events);
  }
}
