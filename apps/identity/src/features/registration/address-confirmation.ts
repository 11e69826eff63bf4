import { note } from '../../activity/activity.ts';
import type { Transaction } from '../../database.ts';
import type { Origin } from '../../origin/origin.ts';
import { bumpPolicyVersion, type News } from '../../outbox/outbox.ts';
import { voidOneTimeTokens } from '../../tokens/one-time.ts';
import { revokeUserTokens } from '../../tokens/revoke.ts';
import { removeUser } from '../../users/user-removal.ts';
import type { TenantCreation } from '../tenants/tenant-creation.ts';
import { type Claimant, endOtherClaims } from './claims.ts';

interface Options {
  /** Whether they get the tenant that they asked for when they registered. */
  readonly withTenant?: boolean;
}

/**
 * What happens when an address turns out to be somebody's (decision I21), however that was proved. It takes
 * place in the transaction of the caller, who holds the address (`lockAddress`) and the user, and publishes
 * what it gives.
 */
export class AddressConfirmation {
  readonly #tenants: Pick<TenantCreation, 'createRegistered'>;

  constructor(tenants: Pick<TenantCreation, 'createRegistered'>) {
    this.#tenants = tenants;
  }

  /**
   * Confirms the address: other claims to it end, and who registered gets the tenant that they asked for.
   * Throws what `isAddressTaken` recognises where another person has confirmed it.
   */
  async confirm(
    tx: Transaction,
    { id: userId, email }: Claimant,
    origin: Origin,
    { withTenant = true }: Options = {},
  ): Promise<News[]> {
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
    const changed: News = { type: 'identity.user.updated', data: { user_id: userId } };
    return [changed, ...ended, ...(tenant?.news ?? [])];
  }

  /**
   * Ends an account for the person whose address it claims. Members of a tenant keep theirs, signed out
   * everywhere: they can use it only with another address, which they confirm. Gives whether it was deleted,
   * and what there is to tell of its tokens.
   */
  async disown(
    tx: Transaction,
    userId: string,
    origin: Origin,
  ): Promise<{ readonly isDeleted: boolean; readonly news: readonly News[] }> {
    const isMember = (await tx.membership.count({ where: { userId } })) > 0;
    if (!isMember) return { isDeleted: true, news: await removeUser(tx, userId) };
    const { tenantId } = await tx.user.findUniqueOrThrow({ where: { id: userId } });
    await voidOneTimeTokens(tx, 'email_verification', { userId });
    await voidOneTimeTokens(tx, 'password_reset', { userId });
    await note(tx, { userId, tenantId, ...origin }, 'address_disowned');
    const news = await revokeUserTokens(tx, { userId }, 'address_disowned');
    return { isDeleted: false, news: [news] };
  }

  async #addTenant(
    tx: Transaction,
    userId: string,
    name: string,
  ): Promise<{ readonly id: string; readonly news: readonly News[] }> {
    const role = await tx.role.findFirstOrThrow({ where: { name: 'owner', tenantId: null } });
    // An administrator gives the secret of its client out by rotating it.
    const { tenant } = await this.#tenants.createRegistered(tx, name);
    const { id, status } = tenant;
    const version = await bumpPolicyVersion(tx, id);
    await tx.user.update({ where: { id: userId }, data: { tenantId: id } });
    await tx.membership.create({ data: { tenantId: id, userId, roleId: role.id } });
    return {
      id,
      news: [
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
