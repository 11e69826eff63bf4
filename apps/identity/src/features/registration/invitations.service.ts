import type { FieldErrors } from '@tessera/fields';
import { HttpError, validationFailed } from '@tessera/http-kit';
import { actorOf } from '../../activity.ts';
import type { Transaction } from '../../database.ts';
import type { Tenant } from '../../generated/prisma/client.ts';
import type { MailQuota } from '../../mail/quota.ts';
import type { Origin } from '../../origin.ts';
import type { Passwords } from '../../passwords.ts';
import type { Caller } from '../../tokens/caller.ts';
import { isAddressTaken } from '../../users.ts';
import {
  invalidInvitation,
  type Joining,
  type MembersService,
} from '../members/members.service.ts';
import type { PasswordsService } from '../passwords/passwords.service.ts';
import type {
  Invitation,
  InvitationsRepository,
  Invited,
  Inviter,
} from './invitations.repository.ts';

/** What somebody without an account of their own gives with the token. */
export interface Acceptance {
  readonly firstName?: string | undefined;
  readonly lastName?: string | undefined;
  readonly password?: string | undefined;
  readonly confirmation?: string | undefined;
}

export interface ShownInvitation {
  readonly email: string;
  /** The name of the tenant. */
  readonly tenant: string;
  /** What `accept` needs beside the token. */
  readonly asks: 'nothing' | 'password' | 'name_and_password';
}

interface Dependencies {
  readonly repository: InvitationsRepository;
  readonly members: MembersService;
  readonly passwords: Passwords;
  readonly accounts: Pick<PasswordsService, 'takeOver'>;
  readonly quota: MailQuota;
}

const inviterOf = (caller: Caller, origin: Origin): Inviter =>
  caller.type === 'client'
    ? null
    : { ...actorOf(caller, origin), name: `${caller.firstName} ${caller.lastName}`.trim() };

/** Invitations into a tenant (decision I10). */
export class InvitationsService {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  /**
   * Invites an address by mail; the caller does not learn whether it has an account. 422 on `role` where
   * the caller could not give it.
   */
  async invite(
    caller: Caller,
    given: { readonly tenantId: string; readonly email: string; readonly role: string },
    origin: Origin,
  ): Promise<void> {
    const { repository, members, quota } = this.#use;
    const { tenantId, email, role } = given;
    const locale = caller.type === 'user' ? caller.locale : null;
    const inviter = inviterOf(caller, origin);
    await members.withGivableRole(caller, tenantId, role, async (tx, roleId) => {
      if (!(await quota.admits('invitation', `${tenantId}:${email}`))) return;
      await repository.invite(tx, { tenantId, roleId, email, inviter, locale });
    });
  }

  /**
   * Lets the reader of the mail in; gives the tenant. Who has an account is only made a member: the mail
   * proves the address, and nobody is signed in by it. Who has none, or one whose address was never
   * confirmed (so that somebody else may have made it), chooses a password: 422 names what is missing.
   */
  async accept(
    token: string,
    given: Acceptance,
    { origin, locale }: { readonly origin: Origin; readonly locale: string },
  ): Promise<Tenant> {
    const { repository, members } = this.#use;
    const invitation = await repository.find(token);
    if (!invitation) throw invalidInvitation();
    const invited = await repository.invited(invitation.email);
    if (invited?.isActive === false) throw invalidInvitation();
    const join = await this.#joining(invitation, invited, given, locale);
    const { tenant, roleId, inviterId } = invitation;
    if (tenant.status !== 'active') {
      throw new HttpError(403, 'tenant_suspended', 'The tenant is suspended.');
    }
    const into = { tenantId: tenant.id, roleId, inviterId };
    try {
      await members.admit(into, async (tx) => {
        if (!(await repository.spend(tx, invitation))) throw invalidInvitation();
        const joining = await join(tx);
        await repository.noteJoined(tx, { ...joining, tenantId: tenant.id, ...origin });
        return joining;
      });
    } catch (error) {
      if (!isAddressTaken(error)) throw error;
      throw new HttpError(409, 'conflict', 'The account was made at the same time. Try again.');
    }
    return tenant;
  }

  /** What an invitation says and asks of its reader, for a page. 422 on `token` where it is good for nothing. */
  async show(token: string): Promise<ShownInvitation> {
    const { repository } = this.#use;
    const invitation = await repository.find(token);
    if (!invitation) throw invalidInvitation();
    const { email, tenant } = invitation;
    const invited = await repository.invited(email);
    const asks = invited ? (invited.isVerified ? 'nothing' : 'password') : 'name_and_password';
    return { email, tenant: tenant.name, asks };
  }

  /** What makes the person who joins, once everything that they gave is checked and hashed. */
  async #joining(
    { email }: Invitation,
    invited: Invited | null,
    given: Acceptance,
    locale: string,
  ): Promise<(tx: Transaction) => Promise<Joining>> {
    const { repository, passwords, accounts } = this.#use;
    if (invited?.isVerified) return async () => ({ userId: invited.id, news: [] });
    const { firstName = '', lastName = '', password = '' } = given;
    this.#refuse(given, email, invited);
    const passwordHash = await passwords.hash(password, email);
    if (invited) {
      return async (tx) => ({
        userId: invited.id,
        news: await accounts.takeOver(tx, invited, passwordHash),
      });
    }
    const person = { email, firstName, lastName, passwordHash, locale };
    return async (tx) => ({ userId: await repository.addPerson(tx, person), news: [] });
  }

  #refuse(
    { firstName, lastName, password, confirmation = '' }: Acceptance,
    email: string,
    known: Invited | null,
  ): void {
    const missing = (field: string): FieldErrors => ({ [field]: [`${field} is required`] });
    const errors: FieldErrors = {
      ...(!known && firstName === undefined && missing('first_name')),
      ...(!known && lastName === undefined && missing('last_name')),
      ...(password === undefined
        ? missing('password')
        : this.#use.passwords.errors(
            'password',
            { password, confirmation },
            known ?? { email, firstName, lastName },
          )),
    };
    if (Object.keys(errors).length > 0) throw validationFailed(errors);
  }
}
