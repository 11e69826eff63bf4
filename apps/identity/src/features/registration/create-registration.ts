import type { BackgroundTasks } from '@tessera/background-work';
import type { Attempts } from '@tessera/http-kit';
import type { Config } from '../../config.ts';
import type { Database } from '../../database.ts';
import type { MailOutbox } from '../../mail/outbox.ts';
import type { MailQuota } from '../../mail/quota.ts';
import type { Passwords } from '../../passwords/passwords.ts';
import type { MembersService } from '../members/members.service.ts';
import type { PasswordsService } from '../passwords/passwords.service.ts';
import type { AddressConfirmation } from './address-confirmation.ts';
import { ConfirmationRepository } from './confirmation.repository.ts';
import { ConfirmationService } from './confirmation.service.ts';
import { InvitationsRepository } from './invitations.repository.ts';
import { InvitationsService } from './invitations.service.ts';
import { PendingInvitationsRepository } from './pending-invitations.repository.ts';
import { PendingInvitationsService } from './pending-invitations.service.ts';
import { RegistrationRepository } from './registration.repository.ts';
import { RegistrationService } from './registration.service.ts';

interface RegistrationOptions {
  readonly database: Database;
  readonly mail: MailOutbox;
  readonly lifetimes: Config['lifetimes'];
  readonly passwords: Passwords;
  readonly accounts: PasswordsService;
  readonly addresses: AddressConfirmation;
  readonly members: MembersService;
  readonly quota: MailQuota;
  readonly background: BackgroundTasks;
  readonly limits: { readonly addressChange: Attempts; readonly invitations: Attempts };
}

/** The services by which people get an account: registration, confirmation of the address, invitations. */
export const createRegistration = (options: RegistrationOptions) => {
  const { database, mail, lifetimes, passwords, accounts, addresses } = options;
  const { members, quota, background, limits } = options;
  return {
    registration: new RegistrationService({
      repository: new RegistrationRepository({
        database,
        mail,
        verificationLifetime: lifetimes.emailVerification,
        registrationLifetime: lifetimes.registration,
      }),
      passwords,
      quota,
      background,
      addressChanges: limits.addressChange,
    }),
    confirmation: new ConfirmationService({
      repository: new ConfirmationRepository(database),
      addresses,
      accounts,
      passwords,
    }),
    invitations: new InvitationsService({
      repository: new InvitationsRepository(database, mail, lifetimes.invitation),
      members,
      passwords,
      accounts,
      quota,
      background,
      perTenant: limits.invitations,
    }),
    pendingInvitations: new PendingInvitationsService(
      new PendingInvitationsRepository(database),
      members,
    ),
  };
};
