import type { BackgroundTasks } from '@tessera/background-work';
import type { FairPool } from '@tessera/database-kit';
import { type Counters, Exports, type Logger } from '@tessera/http-kit';
import type { Vault } from '@tessera/vault';
import type { Registry } from 'prom-client';
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
import { ResetRequests } from './features/passwords/reset-requests.ts';
import { PersonalDataRepository } from './features/personal-data/personal-data.repository.ts';
import { PersonalDataService } from './features/personal-data/personal-data.service.ts';
import { PictureRepository } from './features/picture/picture.repository.ts';
import { PictureService } from './features/picture/picture.service.ts';
import { PinRepository } from './features/pin/pin.repository.ts';
import { PinService } from './features/pin/pin.service.ts';
import { PoliciesService } from './features/policies/policies.service.ts';
import { PrincipalsRepository } from './features/principals/principals.repository.ts';
import { PrincipalsService } from './features/principals/principals.service.ts';
import { ProfileRepository } from './features/profile/profile.repository.ts';
import { ProfileService } from './features/profile/profile.service.ts';
import { ReauthenticationRepository } from './features/reauthentication/reauthentication.repository.ts';
import { ReauthenticationService } from './features/reauthentication/reauthentication.service.ts';
import { AddressConfirmation } from './features/registration/address-confirmation.ts';
import { createRegistration } from './features/registration/create-registration.ts';
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
import { highestStoredCost } from './passwords/stored-cost.ts';
import { createAttemptLimits } from './security/attempt-limits.ts';
import { Lockout } from './security/lockout.ts';
import { Authentication } from './tokens/authenticate.ts';
import { createTokenSigner, issueTokens } from './tokens/issue.ts';
import type { KeyUses } from './tokens/key-uses.ts';
import { renewTokens } from './tokens/renew.ts';
import type { SessionUses } from './tokens/session-uses.ts';
import type { SigningKeys } from './tokens/signing-keys.ts';

/** The long-lived dependencies of the services. */
export interface Parts {
  readonly config: Config;
  readonly logger: Logger;
  readonly pool: FairPool;
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
  /** Where the metrics go. */
  readonly registry: Registry;
}

export type Services = ReturnType<typeof createServices>;

/** Creates the services with their dependencies. */
export const createServices = (parts: Parts) => {
  const { config, logger, pool, database, counters, vault, keys, keyUses, mail, background } =
    parts;
  const { sessionUses } = parts;
  const signer = createTokenSigner(keys, config.issuer);
  const issueToken = issueTokens(signer);
  const { issuer, permissions } = config;
  const authentication = new Authentication({ pool, keys, keyUses, sessionUses, issuer });
  const attempts = createAttemptLimits(counters, config.limits);
  const clientAttempts = new ClientAttempts(counters, config.limits.clientFailures);
  const me = new MeService(new MeRepository(database));
  const passwords = new Passwords(config.passwords, highestStoredCost(database), parts.registry);
  const devices = new DevicesService(
    new DevicesRepository(database),
    config.lifetimes.deviceTrust,
    parts.places,
  );
  const passwordConfirmation = new PasswordConfirmation({
    database,
    passwords,
    failedAttempts: attempts.passwordConfirmation,
  });
  const reauthentication = new ReauthenticationService({
    repository: new ReauthenticationRepository(database),
    confirmation: passwordConfirmation,
    maxAge: config.reauthenticateAfter,
  });
  const lockout = new Lockout(pool, config.lockout);
  const signIn = new SignInService({
    repository: new SignInRepository(database, issueToken),
    passwords,
    devices,
    mail,
    deviceMails: new MailQuota(attempts.deviceMail),
    isOpen: config.registrationEnabled,
    failedAttempts: attempts.signIn,
    lifetimes: config.lifetimes,
    background,
  });
  const members = new MembersService(new MembersRepository(database), permissions);
  const serviceAccounts = new ServiceAccountsService(members);
  const quota = new MailQuota(attempts.mail);
  const tenantCreation = new TenantCreation(config);
  const addresses = new AddressConfirmation(tenantCreation);
  const accounts = new PasswordsService({
    repository: new PasswordsRepository({
      database,
      mail,
      devices,
      addresses,
      history: config.passwordHistory,
    }),
    requests: new ResetRequests({ database, mail, lifetime: config.lifetimes.passwordReset }),
    passwords,
    quota,
    background,
    confirmation: passwordConfirmation,
    changes: attempts.passwordChange,
  });
  const securityMails = new SecurityMails(mail);
  const tenantAdministration = createTenantAdministration({
    config,
    pool,
    database,
    logger,
    mail,
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
      lockout,
      passwords: passwordConfirmation,
      devices,
      signIn,
      mails: securityMails,
      reauthentication,
    }),
    pins: new PinService({
      repository: new PinRepository(database, securityMails),
      passwords,
      vault,
      lockout,
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
      requests: attempts.emailChange,
      background,
    }),
    ...createRegistration({
      database,
      mail,
      lifetimes: config.lifetimes,
      passwords,
      accounts,
      addresses,
      members,
      quota,
      background,
      limits: attempts,
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
      changes: attempts.picture,
    }),
    policies: new PoliciesService(me),
    principals: new PrincipalsService(new PrincipalsRepository(database)),
    members,
    memberships: new MembershipsService({
      repository: new MembershipsRepository(database),
      members,
      mails: securityMails,
    }),
    roles: new RolesService(new RolesRepository(database), members, permissions),
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
      permissions,
      lifetimes: config.lifetimes.apiKey,
    }),
    tenantCreation,
    tenantAdministration,
  };
};
