import { type Actor, note } from '../../activity/activity.ts';
import type { Database, Transaction } from '../../database.ts';
import type { Tenant } from '../../generated/prisma/client.ts';
import type { MailOutbox } from '../../mail/outbox.ts';
import {
  findOneTimeToken,
  issueOneTimeToken,
  spendOneTimeToken,
  voidOneTimeTokens,
} from '../../tokens/one-time.ts';
import { findPerson, lockAddress } from '../../users/users.ts';
import { type Role, roleOf } from '../members/member.ts';
import type { Person } from '../passwords/passwords.service.ts';

/** The inviter; null for a system application. */
export type Inviter = (Actor & { readonly name: string }) | null;

export interface NewInvitation {
  readonly tenantId: string;
  readonly roleId: string;
  readonly email: string;
  readonly inviter: Inviter;
  /** Language of the inviter; null for a system application. */
  readonly locale: string | null;
  /** Name of the invited person, as entered by the inviter. */
  readonly firstName?: string | undefined;
  readonly lastName?: string | undefined;
  /** Whether the inviter may grant a role, and so replace an earlier invitation to it. */
  readonly mayGrant: (role: Role) => boolean;
}

/** A valid invitation. */
export interface Invitation {
  readonly tokenHash: Uint8Array<ArrayBuffer>;
  readonly email: string;
  readonly roleId: string;
  readonly inviterId: string | null;
  /** Name of the invited person, as entered by the inviter; null if none was given. */
  readonly firstName: string | null;
  readonly lastName: string | null;
  readonly tenant: Tenant;
}

/** The account with the invited address, and whether the address is confirmed. */
export type Invited = Person & { readonly isActive: boolean; readonly isVerified: boolean };

export class InvitationsRepository {
  readonly #database: Database;
  readonly #mail: MailOutbox;
  /** Lifetime of an invitation in seconds. */
  readonly #lifetime: number;

  constructor(database: Database, mail: MailOutbox, lifetime: number) {
    this.#database = database;
    this.#mail = mail;
    this.#lifetime = lifetime;
  }

  /**
   * Records the invitation whether or not a mail is sent: the log must not reveal which addresses have
   * accounts.
   */
  async note(tx: Transaction, { tenantId, inviter }: NewInvitation): Promise<void> {
    if (inviter) await note(tx, { ...inviter, tenantId }, 'member_invited');
  }

  /**
   * Creates an invitation and its mail, and voids earlier invitations of the address to roles that the inviter may
   * grant: nobody withdraws an invitation to a higher role by inviting the person to a lower one. No effect if the address
   * belongs to a member or the role no longer exists. A deactivated account gets no mail; its invitation is there
   * because the list of invitations must not reveal which addresses have accounts.
   */
  async invite(invitation: NewInvitation): Promise<void> {
    await this.#database.$transaction((tx) => this.#invite(tx, invitation));
  }

  async #invite(tx: Transaction, invitation: NewInvitation): Promise<void> {
    const { tenantId, roleId, email, inviter, firstName, lastName } = invitation;
    await lockAddress(tx, email);
    const user = await findPerson(tx, email);
    const isConfirmed = user !== null && user.emailVerifiedAt !== null;
    if (user && isConfirmed && (await this.#isMember(tx, tenantId, user.id))) return;
    const roles = await tx.$queryRaw<unknown[]>`
      SELECT 1 FROM identity.roles WHERE id = ${roleId}::uuid FOR KEY SHARE`;
    if (roles.length === 0) return;
    const { name: tenant } = await tx.tenant.findUniqueOrThrow({ where: { id: tenantId } });
    await this.#voidEarlier(tx, invitation);
    const lifetime = this.#lifetime;
    const token = await issueOneTimeToken(tx, {
      purpose: 'invitation',
      email,
      tenantId,
      roleId,
      lifetime,
      inviterId: inviter?.userId ?? null,
      firstName: firstName ?? null,
      lastName: lastName ?? null,
    });
    if (user?.isActive === false) return;
    const known = isConfirmed ? user.locale : invitation.locale;
    const locale = known ?? (await this.#languageOf(tx, tenantId));
    await this.#mail.enqueue(tx, {
      kind: 'invitation',
      to: email,
      locale,
      data: { token, lifetime, tenant, inviter: inviter?.name ?? null },
    });
  }

  async #voidEarlier(tx: Transaction, { tenantId, email, mayGrant }: NewInvitation): Promise<void> {
    const earlier = await tx.oneTimeToken.findMany({
      where: { purpose: 'invitation', email, tenantId, usedAt: null },
      include: { role: { include: { policies: true } } },
    });
    const replaced = earlier.filter(({ role }) => role && mayGrant(roleOf(role)));
    const id = { in: replaced.map((one) => one.id) };
    await voidOneTimeTokens(tx, 'invitation', { email, tenantId, id });
  }

  async #isMember(tx: Transaction, tenantId: string, userId: string): Promise<boolean> {
    return (await tx.membership.count({ where: { tenantId, userId } })) > 0;
  }

  /** The language of the tenant's first owner; English if there is none. */
  async #languageOf(tx: Transaction, tenantId: string): Promise<string> {
    const first = await tx.membership.findFirst({
      where: { tenantId, role: { name: 'owner' }, user: { isServiceAccount: false } },
      orderBy: { createdAt: 'asc' },
      select: { user: { select: { locale: true } } },
    });
    return first?.user.locale ?? 'en';
  }

  /** The invitation of a token; null if used, expired or unknown. */
  async find(token: string): Promise<Invitation | null> {
    const found = await findOneTimeToken(this.#database, 'invitation', token);
    if (!found?.tenantId || !found.roleId || found.usedAt !== null) return null;
    const tenant = await this.#database.tenant.findUnique({ where: { id: found.tenantId } });
    return tenant && { ...found, roleId: found.roleId, tenant };
  }

  /** The tenant as it is now. */
  tenant(tx: Transaction, id: string): Promise<Tenant> {
    return tx.tenant.findUniqueOrThrow({ where: { id } });
  }

  /** The account with the address; null if there is none. */
  async invited(email: string): Promise<Invited | null> {
    const user = await findPerson(this.#database, email);
    return user && { ...user, isVerified: user.emailVerifiedAt !== null };
  }

  /** Marks the invitation as used; false if it has been used meanwhile. */
  spend(tx: Transaction, invitation: Invitation): Promise<boolean> {
    return spendOneTimeToken(tx, invitation);
  }

  /** Voids the other invitations of the address to the tenant. */
  voidOthers(tx: Transaction, { email, tenant }: Invitation): Promise<void> {
    return voidOneTimeTokens(tx, 'invitation', { email, tenantId: tenant.id });
  }

  async rename(
    tx: Transaction,
    id: string,
    names: { readonly firstName?: string | undefined; readonly lastName?: string | undefined },
  ): Promise<void> {
    const { firstName, lastName } = names;
    await tx.user.update({
      where: { id },
      data: {
        ...(firstName !== undefined && { firstName }),
        ...(lastName !== undefined && { lastName }),
      },
    });
  }

  /** Creates the user; reading the mailed token proves the address. */
  async addPerson(
    tx: Transaction,
    person: {
      readonly email: string;
      readonly firstName: string;
      readonly lastName: string;
      readonly passwordHash: string;
      readonly locale: string;
    },
  ): Promise<string> {
    const now = new Date();
    const { id } = await tx.user.create({
      data: { ...person, emailVerifiedAt: now, passwordChangedAt: now },
    });
    return id;
  }

  async noteJoined(tx: Transaction, actor: Actor): Promise<void> {
    await note(tx, actor, 'invitation_accepted');
  }
}
