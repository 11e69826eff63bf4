import type { BackgroundTasks } from '@tessera/background-work';
import type { FieldErrors } from '@tessera/fields';
import { type Attempts, HttpError, unauthenticated, validationFailed } from '@tessera/http-kit';
import { requireActive } from '../../access/tenants.ts';
import { actorOf } from '../../activity/activity.ts';
import type { Transaction } from '../../database.ts';
import type { Tenant } from '../../generated/prisma/client.ts';
import type { MailQuota } from '../../mail/quota.ts';
import type { Origin } from '../../origin/origin.ts';
import { visitorOf } from '../../passwords/hashing-for.ts';
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

/** Input of a person without an account. */
export interface Acceptance {
  readonly firstName?: string | undefined;
  readonly lastName?: string | undefined;
  readonly password?: string | undefined;
  readonly confirmation?: string | undefined;
}

/** The context of a request to accept an invitation. */
export interface AcceptContext {
  readonly origin: Origin;
  readonly locale: string;
  /** The signed-in user; null if there is none. */
  readonly caller: UserCaller | null;
}

export interface ShownInvitation {
  readonly email: string;
  /** Name of the tenant. */
  readonly tenant: string;
  /**
   * What `accept` requires besides the token: signing in to the account with the address, or a new account.
   */
  readonly asks: 'sign_in' | 'name_and_password';
  /** The user with the address, if any. */
  readonly userId: string | null;
  /** Name of the invited person, as entered by the inviter. */
  readonly firstName: string;
  readonly lastName: string;
}

interface Dependencies {
  readonly repository: InvitationsRepository;
  readonly members: MembersService;
  readonly passwords: Passwords;
  readonly accounts: Pick<PasswordsService, 'takeOver'>;
  readonly quota: MailQuota;
  /** Daily limit of invitations per tenant. */
  readonly perTenant: Attempts;
  readonly background: BackgroundTasks;
}

const inviterOf = (caller: Caller, origin: Origin): Inviter =>
  caller.type === 'client'
    ? null
    : { ...actorOf(caller, origin), name: `${caller.firstName} ${caller.lastName}`.trim() };

/** Allows only the invited user, signed in to their account (decision I21). */
const requireOwnInvitation = ({ id }: Invited, caller: UserCaller | null): void => {
  if (caller === null) throw unauthenticated();
  if (caller.id === id && caller.impersonatorId === null) return;
  const message = 'The invitation is for another account. Sign in with the address it was sent to.';
  throw new HttpError(403, 'invitation_forbidden', message);
};

/** Invitations to a tenant (decision I10). */
export class InvitationsService {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  /**
   * Invites an address by mail. Neither the response, its timing nor the activity log reveals whether the
   * address has an account. 422 on `role` if the caller may not grant it, 429 if the tenant has reached its
   * daily limit.
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
    const invitation = await members.withGrantableRole(
      caller,
      tenantId,
      role,
      async (tx, granted) => {
        await perTenant.take(tenantId);
        const written = { ...about, ...granted, inviter, locale };
        await repository.note(tx, written);
        return written;
      },
    );
    background.run('an invitation could not be sent', async () => {
      if (!(await quota.allows('invitation', email))) return;
      await repository.invite(invitation);
    });
  }

  /**
   * Accepts an invitation; returns the tenant. Users with an account must be signed in to it: 401 without a
   * token, 403 with another account. Others, including those with an unconfirmed account that somebody else may
   * have created, choose a password; 422 names missing fields. 403 while the tenant is not active.
   */
  async accept(
    token: string,
    given: Acceptance,
    { origin, locale, caller }: AcceptContext,
  ): Promise<Tenant> {
    const { repository, members } = this.#use;
    const invitation = await repository.find(token);
    if (!invitation) throw invalidInvitation();
    const invited = await repository.invited(invitation.email);
    if (invited?.isActive === false) throw invalidInvitation();
    if (invited?.isVerified) requireOwnInvitation(invited, caller);
    const { tenant, roleId, inviterId } = invitation;
    requireActive(tenant);
    const join = await this.#joining(invitation, invited, given, { origin, locale });
    const into = { tenantId: tenant.id, roleId, inviterId };
    try {
      await members.admit(into, async (tx) => {
        await lockAddress(tx, invitation.email);
        // It may have been suspended while the password was hashed.
        requireActive(await repository.tenant(tx, tenant.id));
        if (!(await repository.spend(tx, invitation))) throw invalidInvitation();
        await repository.voidOthers(tx, invitation);
        const joining = await join(tx);
        await repository.noteJoined(tx, { ...joining, tenantId: tenant.id, ...origin });
        return joining;
      });
    } catch (error) {
      if (!isAddressTaken(error)) throw error;
      throw new HttpError(409, 'conflict', 'The account was created at the same time. Try again.');
    }
    return tenant;
  }

  /** The content and requirements of an invitation, for a page. 422 on `token` if it is invalid. */
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

  /** Prepares the user who joins: validates and hashes the input before the transaction starts. */
  async #joining(
    { email }: Invitation,
    invited: Invited | null,
    given: Acceptance,
    { origin, locale }: Pick<AcceptContext, 'origin' | 'locale'>,
  ): Promise<(tx: Transaction) => Promise<Joining>> {
    const { repository, passwords, accounts } = this.#use;
    if (invited?.isVerified) return async () => ({ userId: invited.id, events: [] });
    const { firstName = '', lastName = '', password = '' } = given;
    this.#requireValid(given, email, invited);
    const passwordHash = await passwords.hash(password, visitorOf(email, origin));
    if (invited) {
      return async (tx) => {
        await repository.rename(tx, invited.id, given);
        // They join an existing tenant; the one requested at registration is not created.
        const options = { withTenant: false };
        const events = await accounts.takeOver(tx, invited, passwordHash, origin, options);
        return { userId: invited.id, events };
      };
    }
    const person = { email, firstName, lastName, passwordHash, locale };
    return async (tx) => ({ userId: await repository.addPerson(tx, person), events: [] });
  }

  #requireValid(
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
