import type { BackgroundTasks } from '@tessera/background-work';
import { type Counters, createAttempts, Exports, type Logger } from '@tessera/http-kit';
import type { Vault } from '@tessera/vault';
import type { Pool } from 'pg';
import type { Config } from './config.ts';
import type { Database } from './database.ts';
import { AccountDeletionRepository } from './features/account-deletion/account-deletion.repository.ts';
import { AccountDeletionService } from './features/account-deletion/account-deletion.service.ts';
import { ActivityRepository } from './features/activity/activity.repository.ts';
import { ActivityService } from './features/activity/activity.service.ts';
import { AdminUsersRepository } from './features/admin-users/admin-users.repository.ts';
import { AdminUsersService } from './features/admin-users/admin-users.service.ts';
import { ApiKeysRepository } from './features/api-keys/api-keys.repository.ts';
import { ApiKeysService } from './features/api-keys/api-keys.service.ts';
import { ApplicationsRepository } from './features/applications/applications.repository.ts';
import { ApplicationsService } from './features/applications/applications.service.ts';
import { DevicesRepository } from './features/devices/devices.repository.ts';
import { DevicesService } from './features/devices/devices.service.ts';
import { DisputesRepository } from './features/disputes/disputes.repository.ts';
import { DisputesService } from './features/disputes/disputes.service.ts';
import { AccountRecovery } from './features/email-change/account-recovery.ts';
import { EmailChangeRepository } from './features/email-change/email-change.repository.ts';
import { EmailChangeService } from './features/email-change/email-change.service.ts';
import { ImpersonationRepository } from './features/impersonation/impersonation.repository.ts';
import { ImpersonationService } from './features/impersonation/impersonation.service.ts';
import { MeRepository } from './features/me/me.repository.ts';
import { MeService } from './features/me/me.service.ts';
import { MembersRepository } from './features/members/members.repository.ts';
import { MembersService } from './features/members/members.service.ts';
import { MembershipsRepository } from './features/memberships/memberships.repository.ts';
import { MembershipsService } from './features/memberships/memberships.service.ts';
import { PasswordsRepository } from './features/passwords/passwords.repository.ts';
import { PasswordsService } from './features/passwords/passwords.service.ts';
import { PersonalDataRepository } from './features/personal-data/personal-data.repository.ts';
import { PersonalDataService } from './features/personal-data/personal-data.service.ts';
import { PictureRepository } from './features/picture/picture.repository.ts';
import { PictureService } from './features/picture/picture.service.ts';
import { PinRepository } from './features/pin/pin.repository.ts';
import { PinService } from './features/pin/pin.service.ts';
import { PoliciesService } from './features/policies/policies.service.ts';
import { ProfileRepository } from './features/profile/profile.repository.ts';
import { ProfileService } from './features/profile/profile.service.ts';
import { ReauthenticationRepository } from './features/reauthentication/reauthentication.repository.ts';
import { ReauthenticationService } from './features/reauthentication/reauthentication.service.ts';
import { AddressConfirmation } from './features/registration/address-confirmation.ts';
import { ConfirmationRepository } from './features/registration/confirmation.repository.ts';
import { ConfirmationService } from './features/registration/confirmation.service.ts';
import { InvitationsRepository } from './features/registration/invitations.repository.ts';
import { InvitationsService } from './features/registration/invitations.service.ts';
import { RegistrationRepository } from './features/registration/registration.repository.ts';
import { RegistrationService } from './features/registration/registration.service.ts';
import { RolesRepository } from './features/roles/roles.repository.ts';
import { RolesService } from './features/roles/roles.service.ts';
import { ServiceAccountsService } from './features/service-accounts/service-accounts.service.ts';
import { OpenSessionsRepository } from './features/sessions/open-sessions.repository.ts';
import { OpenSessionsService } from './features/sessions/open-sessions.service.ts';
import { SessionsRepository } from './features/sessions/sessions.repository.ts';
import { SessionsService } from './features/sessions/sessions.service.ts';
import { PasswordConfirmation } from './features/sign-in/password-confirmation.ts';
import { SignInRepository } from './features/sign-in/sign-in.repository.ts';
import { SignInService } from './features/sign-in/sign-in.service.ts';
import { createTenantAdministration } from './features/tenants/administration.ts';
import { TenantCreation } from './features/tenants/tenant-creation.ts';
import { createTotp, type Totp } from './features/two-factor/totp.ts';
import { TwoFactorRepository } from './features/two-factor/two-factor.repository.ts';
import { TwoFactorService } from './features/two-factor/two-factor.service.ts';
import { sessionCookie } from './http/session-cookie.ts';
import type { MailOutbox } from './mail/outbox.ts';
import { MailQuota } from './mail/quota.ts';
import { SecurityMails } from './mail/security-mails.ts';
import { ClientAttempts } from './oauth/client-attempts.ts';
import { AuthorizationServer } from './oauth/user/server.ts';
import type { Places } from './origin/places.ts';
import { Passwords } from './passwords/passwords.ts';
import { Lockout } from './security/lockout.ts';
import { Authentication } from './tokens/authenticate.ts';
import { createTokenSigner, issueTokens } from './tokens/issue.ts';
import type { KeyUses } from './tokens/key-uses.ts';
import { renewTokens } from './tokens/renew.ts';
import type { SessionUses } from './tokens/session-uses.ts';
import type { SigningKeys } from './tokens/signing-keys.ts';

/** Changes of the picture of one account: converting one is work. */
const PICTURES_AN_HOUR = 30;

/** What the services are made of. */
export interface Parts {
  readonly config: Config;
  readonly logger: Logger;
  readonly pool: Pool;
  readonly database: Database;
  readonly counters: Counters;
  readonly vault: Vault;
  readonly keys: SigningKeys;
  readonly keyUses: KeyUses;
  readonly sessionUses: SessionUses;
  readonly places: Places;
  readonly mail: MailOutbox;
  readonly background: BackgroundTasks;
  readonly totp: Totp | undefined;
}

export type Services = ReturnType<typeof createServices>;

/** What identity can do: one service a capability, each given what it uses. */
export const createServices = (parts: Parts) => {
  const { config, logger, pool, database, counters, vault, keys, keyUses, mail, background } =
    parts;
  const { sessionUses } = parts;
  const signer = createTokenSigner(keys, config.issuer);
  const issueToken = issueTokens(signer);
  const { issuer } = config;
  const authentication = new Authentication({ pool, keys, keyUses, sessionUses, issuer });
  const clientAttempts = new ClientAttempts(counters, config.limits.clientFailures);
  const me = new MeService(new MeRepository(database));
  const passwords = new Passwords(config.passwords);
  const devices = new DevicesService(
    new DevicesRepository(database),
    config.lifetimes.deviceTrust,
    parts.places,
  );
  /** Wrong passwords a minute, by account. */
  const failuresOf = (name: string, message: string) =>
    createAttempts({
      name,
      message,
      window: 60,
      limit: config.limits.loginFailures,
      store: counters.store(`${name}:`),
    });
  const passwordConfirmation = new PasswordConfirmation({
    database,
    passwords,
    failedAttempts: failuresOf('password', 'Too many wrong passwords. Try again later.'),
  });
  const reauthentication = new ReauthenticationService({
    repository: new ReauthenticationRepository(database),
    confirmation: passwordConfirmation,
    maxAge: config.reauthenticateAfter,
  });
  const signIn = new SignInService({
    repository: new SignInRepository(database, issueToken),
    passwords,
    devices,
    mail,
    deviceMails: new MailQuota(
      createAttempts({
        name: 'device-mail',
        window: 86_400,
        limit: config.limits.mail,
        store: counters.store('device-mail:'),
        message: 'Too many mails. Try again later.',
      }),
    ),
    isOpen: config.registrationEnabled,
    failedAttempts: failuresOf('login-account', 'Too many failed sign-ins. Try again later.'),
    lifetimes: config.lifetimes,
    background,
  });
  const members = new MembersService(new MembersRepository(database));
  const serviceAccounts = new ServiceAccountsService(members);
  const quota = new MailQuota(
    createAttempts({
      name: 'mail',
      window: 3600,
      limit: config.limits.mail,
      store: counters.store('mail:'),
      message: 'Too many mails. Try again later.',
    }),
  );
  const tenantCreation = new TenantCreation(config.tenantRedirectUris, config.reservedSlugs);
  const addresses = new AddressConfirmation(tenantCreation);
  const accounts = new PasswordsService({
    repository: new PasswordsRepository({
      database,
      mail,
      devices,
      addresses,
      history: config.passwordHistory,
    }),
    passwords,
    quota,
    background,
    confirmation: passwordConfirmation,
    changes: createAttempts({
      name: 'password-change',
      window: 60,
      // 0 stands for no limit, as in the class of the route.
      limit: config.limits.password || Number.POSITIVE_INFINITY,
      store: counters.store('password-change:'),
      message: 'Too many attempts to change the password. Try again later.',
    }),
    resetLifetime: config.lifetimes.passwordReset,
  });
  const securityMails = new SecurityMails(mail);
  const tenantAdministration = createTenantAdministration({
    config,
    pool,
    database,
    logger,
    creation: tenantCreation,
  });

  const exports = new Exports(config.exports);
  const accountDeletionRepository = new AccountDeletionRepository({
    database,
    mail,
    securityMails,
  });

  return {
    authentication,
    accountDeletionRepository,
    accountDeletions: new AccountDeletionService({
      repository: accountDeletionRepository,
      reauthentication,
      delay: config.accountDeletionDelay,
    }),
    personalData: new PersonalDataService({
      repository: new PersonalDataRepository({ database, securityMails }),
      reauthentication,
      exports,
    }),
    clientAttempts,
    authorizationServer: new AuthorizationServer(
      {
        database,
        keys,
        sessionUses,
        attempts: clientAttempts,
        genuineId: (token) => authentication.genuineId(token),
      },
      { ...config, cookieName: sessionCookie(config).name },
    ),
    signIn,
    twoFactor: new TwoFactorService({
      repository: new TwoFactorRepository(database),
      totp: parts.totp ?? createTotp(config.twoFactorIssuer),
      vault,
      lockout: new Lockout(pool, 'two_factors', config.lockout),
      passwords: passwordConfirmation,
      devices,
      signIn,
      mails: securityMails,
      reauthentication,
    }),
    pins: new PinService({
      repository: new PinRepository(database, securityMails),
      passwords,
      lockout: new Lockout(pool, 'pins', config.lockout),
      confirmation: passwordConfirmation,
      reauthentication,
    }),
    devices,
    passwordConfirmation,
    reauthentication,
    passwords: accounts,
    disputes: new DisputesService({
      repository: new DisputesRepository({ database, devices, mails: securityMails }),
      passwords: accounts,
    }),
    registration: new RegistrationService({
      repository: new RegistrationRepository({
        database,
        mail,
        verificationLifetime: config.lifetimes.emailVerification,
        registrationLifetime: config.lifetimes.registration,
      }),
      passwords,
      quota,
      background,
      addressChanges: createAttempts({
        name: 'address-change',
        window: 3600,
        limit: config.limits.mail,
        store: counters.store('address-change:'),
        message: 'The address was changed too often. Try again later.',
      }),
    }),
    emailChanges: new EmailChangeService({
      repository: new EmailChangeRepository({
        database,
        mail,
        securityMails,
        lifetime: config.lifetimes.emailChange,
        undoLifetime: config.lifetimes.emailChangeUndo,
      }),
      recovery: new AccountRecovery({ devices, resetLifetime: config.lifetimes.passwordReset }),
      reauthentication,
      quota,
      requests: createAttempts({
        name: 'email-change',
        window: 3600,
        limit: config.limits.mail,
        store: counters.store('email-change:'),
        message: 'Too many changes of the address were asked for. Try again later.',
      }),
      background,
    }),
    confirmation: new ConfirmationService({
      repository: new ConfirmationRepository(database),
      addresses,
      accounts,
      passwords,
    }),
    invitations: new InvitationsService({
      repository: new InvitationsRepository(database, mail, config.lifetimes.invitation),
      members,
      passwords,
      accounts,
      quota,
      background,
      perTenant: createAttempts({
        name: 'invitations',
        window: 86_400,
        limit: config.limits.invitations,
        store: counters.store('invitations:'),
        message: 'The tenant has invited too many people today. Try again tomorrow.',
      }),
    }),
    sessions: new SessionsService(
      new SessionsRepository({
        database,
        renewToken: renewTokens(signer, {
          login: config.lifetimes.accessToken,
          switch: config.lifetimes.personalAccessToken,
          grace: config.lifetimes.reuseGrace,
        }),
        issueToken,
        devices,
      }),
      { signIn: config.lifetimes.personalAccessToken, code: config.lifetimes.accessToken },
    ),
    openSessions: new OpenSessionsService(
      new OpenSessionsRepository(database, devices),
      parts.places,
    ),
    me,
    applications: new ApplicationsService(new ApplicationsRepository(database)),
    profiles: new ProfileService(new ProfileRepository(database)),
    pictures: new PictureService({
      repository: new PictureRepository(database, (key) => `${issuer}/pictures/${key}/256`),
      changes: createAttempts({
        name: 'picture',
        window: 3600,
        limit: PICTURES_AN_HOUR,
        store: counters.store('picture:'),
        message: 'The picture was changed too often. Try again later.',
      }),
    }),
    policies: new PoliciesService(me),
    members,
    memberships: new MembershipsService({
      repository: new MembershipsRepository(database),
      members,
      mails: securityMails,
    }),
    roles: new RolesService(new RolesRepository(database), members),
    adminUsers: new AdminUsersService(new AdminUsersRepository(database)),
    activity: new ActivityService(new ActivityRepository(pool, exports), exports),
    impersonation: new ImpersonationService(
      new ImpersonationRepository(database, issueToken),
      config.lifetimes.impersonation,
    ),
    serviceAccounts,
    apiKeys: new ApiKeysService({
      repository: new ApiKeysRepository(database, signer),
      members,
      accounts: serviceAccounts,
      lifetimes: config.lifetimes.apiKey,
    }),
    tenantCreation,
    tenantAdministration,
  };
};
