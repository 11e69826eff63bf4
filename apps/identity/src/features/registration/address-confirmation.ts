import { note } from '../../activity/activity.ts';
import type { Transaction } from '../../database.ts';
import type { Origin } from '../../origin/origin.ts';
import { bumpPolicyVersion, type NewEvent } from '../../outbox/outbox.ts';
import { voidOneTimeTokens } from '../../tokens/one-time.ts';
import { revokeUserTokens } from '../../tokens/revoke.ts';
import { removeUser } from '../../users/user-removal.ts';
import type { TenantCreation } from '../tenants/tenant-creation.ts';
import { type Claimant, endOtherClaims } from './claims.ts';

interface Options {
  /** Whether to create the tenant that was requested at registration. */
  readonly withTenant?: boolean;
}

/**
 * Confirms or disowns email addresses (decision I21), whatever proved the ownership. Runs in the caller's
 * transaction; the caller has locked the address (`lockAddress`) and the user, and publishes the returned
 * events.
 */
export class AddressConfirmation {
  readonly #tenants: Pick<TenantCreation, 'createRegistered'>;

  constructor(tenants: Pick<TenantCreation, 'createRegistered'>) {
    this.#tenants = tenants;
  }

  /**
   * Confirms the address, ends other claims to it, and creates the tenant requested at registration. Throws an
   * error that `isAddressTaken` recognises if another user has confirmed the address.
   */
  async confirm(
    tx: Transaction,
    { id: userId, email }: Claimant,
    origin: Origin,
    { withTenant = true }: Options = {},
  ): Promise<NewEvent[]> {
    const user = await tx.user.update({
      where: { id: userId },
      data: { emailVerifiedAt: new Date() },
    });
    await voidOneTimeTokens(tx, 'email_verification', { userId });
    const ended = await endOtherClaims(tx, { id: userId, email });
    const registration = await tx.registration.findUnique({ where: { userId } });
    if (registration) await tx.registration.delete({ where: { userId } });
    const name = withTenant ? registration?.tenantName : undefined;
    const tenant = name === undefined ? null : await this.#addTenant(tx, userId, name);
    const tenantId = tenant?.id ?? user.tenantId;
    await note(tx, { userId, tenantId, ...origin }, 'email_verified');
    const changed: NewEvent = { type: 'identity.user.updated', data: { user_id: userId } };
    return [changed, ...ended, ...(tenant?.events ?? [])];
  }

  /**
   * Ends an unconfirmed account on behalf of the owner of its address. The account of a tenant member is kept
   * but signed out everywhere; it can only be used after confirming another address. Returns whether it was
   * deleted, and the events to publish.
   */
  async disown(
    tx: Transaction,
    userId: string,
    origin: Origin,
  ): Promise<{ readonly isDeleted: boolean; readonly events: readonly NewEvent[] }> {
    const isMember = (await tx.membership.count({ where: { userId } })) > 0;
    if (!isMember) return { isDeleted: true, events: await removeUser(tx, userId) };
    const { tenantId } = await tx.user.findUniqueOrThrow({ where: { id: userId } });
    await voidOneTimeTokens(tx, 'email_verification', { userId });
    await voidOneTimeTokens(tx, 'password_reset', { userId });
    await note(tx, { userId, tenantId, ...origin }, 'address_disowned');
    const revocation = await revokeUserTokens(tx, { userId }, 'address_disowned');
    return { isDeleted: false, events: [revocation] };
  }

  async #addTenant(
    tx: Transaction,
    userId: string,
    name: string,
  ): Promise<{ readonly id: string; readonly events: readonly NewEvent[] }> {
    const role = await tx.role.findFirstOrThrow({ where: { name: 'owner', tenantId: null } });
    // An administrator can obtain a client secret by rotating it.
    const { tenant } = await this.#tenants.createRegistered(tx, name);
    const { id, status } = tenant;
    const version = await bumpPolicyVersion(tx, id);
    await tx.user.update({ where: { id: userId }, data: { tenantId: id } });
    await tx.membership.create({ data: { tenantId: id, userId, roleId: role.id } });
    return {
      id,
      events: [
        {
          type: 'identity.tenant.status_changed',
          data: { tenant_id: id, status: status === 'provisioning' ? 'provisioning' : 'active' },
        },
        {
          type: 'identity.policy.updated',
          data: { tenant_id: id, version, user_ids: [userId] },
        },
      ],
    };
  }
}
