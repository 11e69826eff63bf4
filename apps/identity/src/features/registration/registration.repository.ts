import { note } from '../../activity.ts';
import type { Database, Transaction } from '../../database.ts';
import type { MailOutbox } from '../../mail/outbox.ts';
import type { Origin } from '../../origin.ts';
import { bumpPolicyVersion, enqueue } from '../../outbox/outbox.ts';
import { findOneTimeToken, issueOneTimeToken, voidOneTimeTokens } from '../../tokens/one-time.ts';
import { findPerson, isAddressTaken } from '../../users.ts';
import type { TenantCreation } from '../tenants/tenant-creation.ts';

export interface NewPerson {
  readonly email: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly passwordHash: string;
  readonly locale: string;
}

/** Who has an address already. */
export interface Holder {
  readonly id: string;
  readonly firstName: string;
  readonly locale: string;
  readonly isVerified: boolean;
}

interface Dependencies {
  readonly database: Database;
  readonly mail: MailOutbox;
  /** Seconds that the link is good for which confirms an address. */
  readonly verificationLifetime: number;
  readonly tenants: TenantCreation;
}

export class RegistrationRepository {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  /** The person with this address who may sign in. */
  async holder(email: string): Promise<Holder | null> {
    const found = await findPerson(this.#use.database, email);
    return found?.isActive ? { ...found, isVerified: found.emailVerifiedAt !== null } : null;
  }

  async tellHolder(email: string, { firstName, locale }: Holder): Promise<void> {
    await this.#use.database.$transaction((tx) =>
      this.#use.mail.enqueue(tx, { kind: 'address_taken', to: email, locale, data: { firstName } }),
    );
  }

  /** Makes a person, and writes the mail with the link that confirms the address. Gives their id. */
  async addPerson(tx: Transaction, person: NewPerson): Promise<string> {
    const { id } = await tx.user.create({ data: { ...person, passwordChangedAt: new Date() } });
    await this.sendVerification(tx, { id, ...person });
    return id;
  }

  async sendVerification(
    tx: Transaction,
    person: { readonly id: string; readonly email: string; readonly locale: string },
  ): Promise<void> {
    const { id: userId, email, locale } = person;
    const lifetime = this.#use.verificationLifetime;
    const purpose = 'email_verification';
    const token = await issueOneTimeToken(tx, { purpose, userId, email, lifetime });
    await this.#use.mail.enqueue(tx, {
      kind: purpose,
      to: email,
      locale,
      data: { token, lifetime },
    });
  }

  /** The same, on its own. */
  async resendVerification(person: { id: string; email: string; locale: string }): Promise<void> {
    await this.#use.database.$transaction((tx) => this.sendVerification(tx, person));
  }

  /** Makes a person with a tenant of their own. False where the address is taken. */
  async addOwner(person: NewPerson, tenantName: string, origin: Origin): Promise<boolean> {
    try {
      await this.#use.database.$transaction((tx) => this.#addOwner(tx, person, tenantName, origin));
      return true;
    } catch (error) {
      if (isAddressTaken(error)) return false;
      throw error;
    }
  }

  /** Confirms the address that a link was sent to; false where the link is good for nothing. */
  async verify(token: string, origin: Origin): Promise<boolean> {
    return this.#use.database.$transaction(async (tx) => {
      const found = await findOneTimeToken(tx, 'email_verification', token);
      if (!found?.userId) return false;
      const { userId, email } = found;
      const user = await tx.user.findUnique({ where: { id: userId, email, isActive: true } });
      if (!user) return false;
      // Programs that look at links before their reader does have used it: it goes on saying so.
      if (user.emailVerifiedAt !== null) return true;
      if (found.usedAt !== null) return false;
      await tx.user.update({ where: { id: userId }, data: { emailVerifiedAt: new Date() } });
      await voidOneTimeTokens(tx, 'email_verification', { userId });
      const { tenantId } = user;
      await note(tx, { userId, tenantId, ...origin }, 'email_verified');
      await enqueue(tx, { type: 'identity.user.updated', data: { user_id: userId } });
      return true;
    });
  }

  async #addOwner(
    tx: Transaction,
    person: NewPerson,
    tenantName: string,
    origin: Origin,
  ): Promise<void> {
    const role = await tx.role.findFirstOrThrow({ where: { name: 'owner', tenantId: null } });
    // An administrator gives the secret of its client out by rotating it.
    const { tenant } = await this.#use.tenants.createRegistered(tx, tenantName);
    const tenantId = tenant.id;
    const version = await bumpPolicyVersion(tx, tenantId);
    const userId = await this.addPerson(tx, person);
    await tx.user.update({ where: { id: userId }, data: { tenantId } });
    await tx.membership.create({ data: { tenantId, userId, roleId: role.id } });
    await note(tx, { userId, tenantId, ...origin }, 'registered');
    await enqueue(
      tx,
      { type: 'identity.tenant.status_changed', data: { tenant_id: tenantId, status: 'active' } },
      {
        type: 'identity.policy.updated',
        data: { tenant_id: tenantId, version, user_ids: [userId] },
      },
    );
  }
}
