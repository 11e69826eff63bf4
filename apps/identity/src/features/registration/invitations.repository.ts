import { type Actor, note } from '../../activity.ts';
import type { Database, Transaction } from '../../database.ts';
import type { Tenant } from '../../generated/prisma/client.ts';
import type { MailOutbox } from '../../mail/outbox.ts';
import {
  findOneTimeToken,
  issueOneTimeToken,
  spendOneTimeToken,
  voidOneTimeTokens,
} from '../../tokens/one-time.ts';
import { findPerson } from '../../users.ts';
import type { Person } from '../passwords/passwords.service.ts';

/** Who invites; null where it is a system application. */
export type Inviter = (Actor & { readonly name: string }) | null;

export interface NewInvitation {
  readonly tenantId: string;
  readonly roleId: string;
  readonly email: string;
  readonly inviter: Inviter;
  /** The inviter's; null where that is a machine. */
  readonly locale: string | null;
}

/** An invitation that is still good. */
export interface Invitation {
  readonly tokenHash: Uint8Array<ArrayBuffer>;
  readonly email: string;
  readonly roleId: string;
  readonly inviterId: string | null;
  readonly tenant: Tenant;
}

/** Whose address it is, and whether that is certain. */
export type Invited = Person & { readonly isActive: boolean; readonly isVerified: boolean };

export class InvitationsRepository {
  readonly #database: Database;
  readonly #mail: MailOutbox;
  /** Seconds that an invitation is good for. */
  readonly #lifetime: number;

  constructor(database: Database, mail: MailOutbox, lifetime: number) {
    this.#database = database;
    this.#mail = mail;
    this.#lifetime = lifetime;
  }

  /** Writes an invitation and its mail; an earlier one of the address is void. Nothing for members. */
  async invite(tx: Transaction, invitation: NewInvitation): Promise<void> {
    const { tenantId, roleId, email, inviter } = invitation;
    const user = await findPerson(tx, email);
    if (user?.isActive === false) return;
    if (user && (await tx.membership.count({ where: { tenantId, userId: user.id } })) > 0) return;
    const { name: tenant } = await tx.tenant.findUniqueOrThrow({ where: { id: tenantId } });
    await voidOneTimeTokens(tx, 'invitation', { email, tenantId });
    const lifetime = this.#lifetime;
    const token = await issueOneTimeToken(tx, {
      ...{ purpose: 'invitation', email, tenantId, roleId, lifetime },
      inviterId: inviter?.userId ?? null,
    });
    const locale = user?.locale ?? invitation.locale ?? (await this.#languageOf(tx, tenantId));
    await this.#mail.enqueue(tx, {
      kind: 'invitation',
      to: email,
      locale,
      data: { token, lifetime, tenant, inviter: inviter?.name ?? null },
    });
    if (inviter) await note(tx, { ...inviter, tenantId }, 'member_invited');
  }

  /** The language of a tenant is that of its first owner; English where it has none. */
  async #languageOf(tx: Transaction, tenantId: string): Promise<string> {
    const first = await tx.membership.findFirst({
      where: { tenantId, role: { name: 'owner' }, user: { isServiceAccount: false } },
      orderBy: { createdAt: 'asc' },
      select: { user: { select: { locale: true } } },
    });
    return first?.user.locale ?? 'en';
  }

  /** The invitation of a token; null where it is used, expired or unknown. */
  async find(token: string): Promise<Invitation | null> {
    const found = await findOneTimeToken(this.#database, 'invitation', token);
    if (!found?.tenantId || !found.roleId || found.usedAt !== null) return null;
    const tenant = await this.#database.tenant.findUnique({ where: { id: found.tenantId } });
    return tenant && { ...found, roleId: found.roleId, tenant };
  }

  /** Who has the address; null where nobody has an account with it. */
  async invited(email: string): Promise<Invited | null> {
    const user = await findPerson(this.#database, email);
    return user && { ...user, isVerified: user.emailVerifiedAt !== null };
  }

  /** Uses the invitation up; false where somebody was faster. */
  spend(tx: Transaction, invitation: Invitation): Promise<boolean> {
    return spendOneTimeToken(tx, invitation);
  }

  /** Makes the person; the mail that they read the token in proves the address. */
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
