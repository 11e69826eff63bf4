import type { FieldErrors } from '@tessera/fields';
import { type Attempts, HttpError, unauthenticated, validationFailed } from '@tessera/http-kit';
import { actorOf } from '../../activity/activity.ts';
import type { Background } from '../../background/background.ts';
import type { Transaction } from '../../database.ts';
import type { Tenant } from '../../generated/prisma/client.ts';
import type { MailQuota } from '../../mail/quota.ts';
import type { Origin } from '../../origin/origin.ts';
import type { Passwords } from '../../passwords/passwords.ts';
import type { Caller, UserCaller } from '../../tokens/caller.ts';
import { isAddressTaken, lockAddress } from '../../users/users.ts';
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

/** Where a request to accept comes from. */
export interface Accepting {
  readonly origin: Origin;
  readonly locale: string;
  /** Who is signed in; null where nobody is. */
  readonly caller: UserCaller | null;
}

export interface ShownInvitation {
  readonly email: string;
  /** The name of the tenant. */
  readonly tenant: string;
  /** What `accept` needs beside the token: a sign-in to the account with the address, or a new account. */
  readonly asks: 'sign_in' | 'name_and_password';
  /** Whose account that is. */
  readonly userId: string | null;
  /** What the inviter says that the reader is called. */
  readonly firstName: string;
  readonly lastName: string;
}

interface Dependencies {
  readonly repository: InvitationsRepository;
  readonly members: MembersService;
  readonly passwords: Passwords;
  readonly accounts: Pick<PasswordsService, 'takeOver'>;
  readonly quota: MailQuota;
  /** By tenant: invitations a day. */
  readonly perTenant: Attempts;
  readonly background: Background;
}

const inviterOf = (caller: Caller, origin: Origin): Inviter =>
  caller.type === 'client'
    ? null
    : { ...actorOf(caller, origin), name: `${caller.firstName} ${caller.lastName}`.trim() };

/** Refuses everybody but who is signed in to the account that is invited (decision I21). */
const demandOwn = ({ id }: Invited, caller: UserCaller | null): void => {
  if (caller === null) throw unauthenticated();
  if (caller.id === id && caller.impersonatorId === null) return;
  const message = 'The invitation is for another account: sign in with the address it was sent to.';
  throw new HttpError(403, 'invitation_forbidden', message);
};

/** Invitations into a tenant (decision I10). */
export class InvitationsService {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  /**
   * Invites an address by mail; the caller learns neither from the answer, nor from its time, nor from the
   * activity log whether it has an account. 422 on `role` where the caller could not give it, 429 where the
   * tenant has invited too many today.
   */
  async invite(
    caller: Caller,
    given: {
      readonly tenantId: string;
      readonly email: string;
      readonly role: string;
      readonly firstName?: string;
      readonly lastName?: string;
    },
    origin: Origin,
  ): Promise<void> {
    const { repository, members, quota, perTenant, background } = this.#use;
    const { role, ...about } = given;
    const { tenantId, email } = given;
    const locale = caller.type === 'user' ? caller.locale : null;
    const inviter = inviterOf(caller, origin);
    const invitation = await members.withGivableRole(caller, tenantId, role, async (tx, roleId) => {
      await perTenant.take(tenantId);
      const written = { ...about, roleId, inviter, locale };
      await repository.note(tx, written);
      return written;
    });
    background.run('an invitation was not sent', async () => {
      if (!(await quota.admits('invitation', `${tenantId}:${email}`))) return;
      await repository.invite(invitation);
    });
  }

  /**
   * Lets the reader of the mail in; gives the tenant. Who has an account accepts it signed in to that
   * account: 401 where nobody is signed in, 403 where it is somebody else. Who has none, or one whose address
   * was never confirmed (so that somebody else may have made it), chooses a password: 422 names what is
   * missing.
   */
  async accept(
    token: string,
    given: Acceptance,
    { origin, locale, caller }: Accepting,
  ): Promise<Tenant> {
    const { repository, members } = this.#use;
    const invitation = await repository.find(token);
    if (!invitation) throw invalidInvitation();
    const invited = await repository.invited(invitation.email);
    if (invited?.isActive === false) throw invalidInvitation();
    if (invited?.isVerified) demandOwn(invited, caller);
    const join = await this.#joining(invitation, invited, given, { origin, locale });
    const { tenant, roleId, inviterId } = invitation;
    if (tenant.status !== 'active') {
      throw new HttpError(403, 'tenant_suspended', 'The tenant is suspended.');
    }
    const into = { tenantId: tenant.id, roleId, inviterId };
    try {
      await members.admit(into, async (tx) => {
        await lockAddress(tx, invitation.email);
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
    const { email, tenant, firstName, lastName } = invitation;
    const invited = await repository.invited(email);
    return {
      email,
      tenant: tenant.name,
      asks: invited?.isVerified ? 'sign_in' : 'name_and_password',
      userId: invited?.id ?? null,
      firstName: firstName ?? '',
      lastName: lastName ?? '',
    };
  }

  /** What makes the person who joins, once everything that they gave is checked and hashed. */
  async #joining(
    { email }: Invitation,
    invited: Invited | null,
    given: Acceptance,
    { origin, locale }: Pick<Accepting, 'origin' | 'locale'>,
  ): Promise<(tx: Transaction) => Promise<Joining>> {
    const { repository, passwords, accounts } = this.#use;
    if (invited?.isVerified) return async () => ({ userId: invited.id, news: [] });
    const { firstName = '', lastName = '', password = '' } = given;
    this.#refuse(given, email, invited);
    const passwordHash = await passwords.hash(password, email);
    if (invited) {
      return async (tx) => {
        await repository.rename(tx, invited.id, given);
        // They join a tenant that is there: the one that somebody wanted to register is not made.
        const options = { withTenant: false };
        const news = await accounts.takeOver(tx, invited, passwordHash, origin, options);
        return { userId: invited.id, news };
      };
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
