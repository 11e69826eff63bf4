import { described, int, type OutOf, withDefault } from '@tessera/fields';
import { requests } from '@tessera/http-kit';

/** A limit that cannot be switched off, for example because it slows down somebody who guesses credentials. */
const atLeastOne = (standard: number, meaning: string) =>
  described(withDefault(int(1, 1_000_000_000), standard), meaning);

/** Rate limits, and how many exports run at once. */
export const limitVariables = {
  RATE_LIMIT_LOGIN: atLeastOne(5, 'Sign-ins per minute and address.'),
  RATE_LIMIT_LOGIN_FAILURES: atLeastOne(5, 'Failed sign-ins per minute and account.'),
  RATE_LIMIT_CLIENT_FAILURES: atLeastOne(
    10,
    'Failed authentications of an OAuth client per minute, client and address.',
  ),
  RATE_LIMIT_CLIENT_FAILURES_ADDRESS: atLeastOne(
    60,
    'Failed authentications of OAuth clients per minute and address, all clients together.',
  ),
  RATE_LIMIT_CLIENT_FAILURES_TOTAL: atLeastOne(
    600,
    'Failed authentications of an OAuth client per minute and client, all addresses together.',
  ),
  RATE_LIMIT_TWO_FACTOR: atLeastOne(
    5,
    'Second-factor attempts per minute, by address and by principal.',
  ),
  RATE_LIMIT_PIN: atLeastOne(5, 'PIN attempts per minute, by address and by principal.'),
  RATE_LIMIT_PASSWORD_FORGOT: requests(5, 'Password reset requests per hour and address.'),
  RATE_LIMIT_PASSWORD: atLeastOne(
    10,
    'Requests per minute and principal that check or hash a password, such as changing it or removing a factor.',
  ),
  RATE_LIMIT_MAIL: atLeastOne(
    5,
    'Mails of one kind that others can cause, per hour and recipient; mails about new devices: per day and network.',
  ),
  RATE_LIMIT_INVITATIONS: atLeastOne(100, 'Invitations per day and tenant.'),
  RATE_LIMIT_DEFAULT: requests(60, 'Requests per minute and principal.'),
  RATE_LIMIT_ADDRESS: requests(600, 'Requests per minute and address.'),
  RATE_LIMIT_PUBLIC: requests(60, 'Requests per minute and address on routes that need no token.'),
  RATE_LIMIT_FORM: requests(
    60,
    'Page forms submitted per minute and address, unless a narrower limit applies.',
  ),
  RATE_LIMIT_SERVICE: requests(
    60_000,
    'Requests per minute and address on the routes for services.',
  ),
  RATE_LIMIT_SERVICE_PRINCIPAL: requests(
    1200,
    'Requests per minute and principal on the routes for services, except for rights of absent principals.',
  ),
  EXPORTS_PER_CALLER: described(
    withDefault(int(1, 100), 2),
    'Maximum concurrent exports of one caller in one process; further exports get 429.',
  ),
  EXPORT_READS: described(
    withDefault(int(1, 100), 2),
    'Maximum database connections that all exports of one process use at once.',
  ),
} as const;

export const limitSettings = (read: OutOf<typeof limitVariables>) => ({
  /** Per minute unless the variable says otherwise. */
  limits: {
    login: read.RATE_LIMIT_LOGIN,
    loginFailures: read.RATE_LIMIT_LOGIN_FAILURES,
    clientFailures: {
      clientAndAddress: read.RATE_LIMIT_CLIENT_FAILURES,
      address: read.RATE_LIMIT_CLIENT_FAILURES_ADDRESS,
      client: read.RATE_LIMIT_CLIENT_FAILURES_TOTAL,
    },
    passwordForgot: read.RATE_LIMIT_PASSWORD_FORGOT,
    password: read.RATE_LIMIT_PASSWORD,
    mail: read.RATE_LIMIT_MAIL,
    invitations: read.RATE_LIMIT_INVITATIONS,
    twoFactor: read.RATE_LIMIT_TWO_FACTOR,
    pin: read.RATE_LIMIT_PIN,
    principal: read.RATE_LIMIT_DEFAULT,
    address: read.RATE_LIMIT_ADDRESS,
    public: read.RATE_LIMIT_PUBLIC,
    form: read.RATE_LIMIT_FORM,
    service: read.RATE_LIMIT_SERVICE,
    servicePrincipal: read.RATE_LIMIT_SERVICE_PRINCIPAL,
  },
  exports: { perCaller: read.EXPORTS_PER_CALLER, concurrentReads: read.EXPORT_READS },
});
