import { tenantRedirectUri } from '@tessera/contracts';
import {
  bool,
  described,
  int,
  list,
  matching,
  optional,
  ruled,
  text,
  url,
  verbatim,
  withDefault,
} from '@tessera/fields';
import {
  readSettings,
  requests,
  serviceSettings,
  serviceUrl,
  serviceVariables,
} from '@tessera/http-kit';
import { encryptionKeys, keyList } from '@tessera/vault';
import { brandOf } from './config/brand.ts';
import { redirectUriProblem } from './oauth/user/redirect-uri.ts';

const seconds = (max = 366 * 86_400) => int(1, max);

const color = () => matching(/^#[0-9a-fA-F]{6}$/, 'a colour such as #3b5bdb', 7);

/** What pages and addresses begin with. */
const baseUrl = () =>
  ruled(url(255), (value) =>
    /^https?:\/\/[^/?#]+$/.test(value) ? undefined : 'must be an http(s) URL without a path',
  );

/** What a host or a path of the platform may be called, so that no tenant passes for it. */
const RESERVED_SLUGS = [
  'about',
  'account',
  'accounts',
  'admin',
  'administrator',
  'api',
  'app',
  'apps',
  'assets',
  'auth',
  'billing',
  'blog',
  'cdn',
  'console',
  'crm',
  'dashboard',
  'demo',
  'dev',
  'docs',
  'email',
  'events',
  'ftp',
  'health',
  'help',
  'identity',
  'imap',
  'internal',
  'localhost',
  'login',
  'logout',
  'mail',
  'metrics',
  'mx',
  'ns',
  'oauth',
  'oidc',
  'platform',
  'pop',
  'pricing',
  'public',
  'register',
  'root',
  'security',
  'settings',
  'sign-in',
  'sign-out',
  'sign-up',
  'signin',
  'signup',
  'smtp',
  'sso',
  'staging',
  'static',
  'status',
  'support',
  'system',
  'test',
  'webhooks',
  'www',
] as const;

/** Every variable that identity reads. */
export const variables = {
  ...serviceVariables(4000),
  ISSUER: described(baseUrl(), 'The public base URL: the `iss` and `aud` of every token.'),
  KEY_ENCRYPTION_KEYS: described(
    keyList(),
    'Seal what is stored encrypted, `id:base64` each; the first one seals, all of them open.',
  ),
  ACCESS_TOKEN_TTL: described(withDefault(seconds(86_400), 3600), 'Seconds.'),
  SESSION_TTL: described(
    withDefault(seconds(), 30 * 86_400),
    'Seconds that a sign-in lasts at most; its cookie ends with the browser.',
  ),
  REMEMBER_TTL: described(
    withDefault(seconds(), 30 * 86_400),
    'Seconds that a sign-in with `remember` lasts, and its cookie.',
  ),
  PERSONAL_ACCESS_TOKEN_TTL: described(
    withDefault(seconds(), 86_400),
    'Seconds that a token of a tenant switch lives.',
  ),
  REFRESH_REUSE_GRACE_SECONDS: described(
    withDefault(int(0, 300), 0),
    'So long after its renewal a token may be renewed once more, by another tab; 0: never.',
  ),
  API_KEY_TTL: described(
    withDefault(seconds(365 * 86_400), 90 * 86_400),
    'Seconds that an API key lives unless its maker says until when.',
  ),
  API_KEY_MAX_TTL: described(
    withDefault(seconds(365 * 86_400), 365 * 86_400),
    'Seconds that an API key lives at most.',
  ),
  TWO_FACTOR_ISSUER: described(
    withDefault(matching(/^[^:\r\n]+$/, 'a name without a colon', 100), 'Tessera'),
    'What authenticator apps list accounts under.',
  ),
  TWO_FACTOR_PENDING_TTL: described(
    withDefault(seconds(3600), 300),
    'Seconds that a sign-in waits for its second factor.',
  ),
  TRUSTED_DEVICE_TTL: described(
    withDefault(seconds(), 30 * 86_400),
    'Seconds that a trusted device skips the second factor.',
  ),
  IMPERSONATION_TTL: described(
    withDefault(seconds(), 3600),
    'Seconds that an administrator acts as another user.',
  ),
  REAUTHENTICATE_AFTER_SECONDS: described(
    withDefault(seconds(), 600),
    'Seconds after which adding or removing a second factor or a PIN needs another authentication.',
  ),
  ACCOUNT_DELETION_DELAY: described(
    withDefault(seconds(), 14 * 86_400),
    'Seconds between the request to delete an account and its deletion, in which its owner can keep it.',
  ),
  EXPORTS_PER_CALLER: described(
    withDefault(int(1, 100), 2),
    'Most exports of one caller under way in one process; the next one is refused with 429.',
  ),
  EXPORT_READS: described(
    withDefault(int(1, 100), 2),
    'Most database connections that exports read on at once, in one process.',
  ),
  LOCKOUT_ATTEMPTS: described(
    withDefault(int(1, 100), 5),
    'Wrong codes in a row, or wrong PINs, until the second factor or the PIN is locked.',
  ),
  LOCKOUT_SECONDS: described(
    withDefault(seconds(86_400), 60),
    'Seconds of the first lock; each further wrong one locks for twice as long, up to a day.',
  ),
  BCRYPT_COST: described(withDefault(int(4, 20), 12), 'Each step doubles the work.'),
  HASH_QUEUE_LIMIT: described(
    withDefault(int(0, 10_000), 32),
    'Passwords that may wait for a core; the next sign-in is refused with 503.',
  ),
  PASSWORD_MIN_LENGTH: described(
    withDefault(int(8, 64), 12),
    'Fewest characters of a new password.',
  ),
  PASSWORD_HISTORY: described(
    withDefault(int(1, 24), 5),
    'So many of the last passwords, the current one included, may not come back.',
  ),
  PASSWORD_RESET_TTL: described(
    withDefault(seconds(86_400), 3600),
    'Seconds that the link of a password reset is good for.',
  ),
  REGISTRATION_ENABLED: described(
    withDefault(bool(), false),
    'Whether anybody may register, with a tenant of their own.',
  ),
  EMAIL_VERIFICATION_TTL: described(
    withDefault(seconds(), 86_400),
    'Seconds that the link is good for which confirms an address.',
  ),
  EMAIL_CHANGE_TTL: described(
    withDefault(seconds(), 86_400),
    'Seconds that the link is good for which confirms the new address of an account.',
  ),
  EMAIL_CHANGE_UNDO_TTL: described(
    withDefault(seconds(), 3 * 86_400),
    'Seconds that the old address can undo a change of the address.',
  ),
  REGISTRATION_TTL: described(
    withDefault(seconds(), 7 * 86_400),
    'Seconds that a registration waits for the confirmation of its address; then it is deleted.',
  ),
  INVITATION_TTL: described(
    withDefault(seconds(), 7 * 86_400),
    'Seconds that an invitation is good for.',
  ),
  FRONTEND_URL: described(
    optional(baseUrl()),
    'Where the pages are that mails lead to: /password/reset, /password/forgot, /invitations/accept. Unless given, identity.',
  ),
  FRONTEND_LOGIN_URL: described(
    optional(
      ruled(url(1000), (value) =>
        value.includes('#') ? 'must be an http(s) URL without a fragment' : undefined,
      ),
    ),
    'The login page that /oauth/authorize sends a browser to, with `return_to`. Unless given, that of identity; its other pages stay.',
  ),
  RESERVED_SLUGS: described(
    withDefault(list(matching(/^[a-z0-9-]+$/, 'a slug', 63), { max: 1000 }), [...RESERVED_SLUGS]),
    'Slugs that no tenant may have: names that hosts and paths of the platform may need.',
  ),
  BRAND_NAME: described(
    withDefault(text(60), 'Tessera'),
    "What identity's own pages and its mails are headed with.",
  ),
  GEOIP_DATABASE: described(
    optional(verbatim(1000)),
    'The path of a database of places in MaxMind DB format, such as GeoLite2-City.mmdb or DB-IP Lite. With it, people see the city and the country of their devices; a new file is read within an hour.',
  ),
  BRAND_ACCENT: described(
    optional(color()),
    'The colour of links and buttons on light pages, as #rrggbb. Text in it must be readable (WCAG AA).',
  ),
  BRAND_ACCENT_DARK: described(
    optional(color()),
    'The same on dark pages. Unless given, BRAND_ACCENT, made as light as they need.',
  ),
  BRAND_LOGO: described(
    optional(verbatim(1000)),
    'The path of an SVG or PNG file of at most 256 kB, shown in the place of the mark and as the icon.',
  ),
  IDLE_SIGN_OUT_SECONDS: described(
    withDefault(int(0, 86_400), 1800),
    "Seconds after which a browser that is not remembered is signed out of identity, unless its pages or its session's tokens are used; 0: never.",
  ),
  TENANT_CLIENT_REDIRECT_URIS: described(
    withDefault(list(verbatim(2000), { max: 20 }), []),
    'Where the client of each tenant may return to; `{slug}` stands for the slug of the tenant.',
  ),
  SMTP_URL: described(
    optional(matching(/^smtps?:\/\/\S+$/, 'an smtp:// or smtps:// URL', 1000)),
    'The server that takes mails, with user and password. Without it they wait, or go to MAIL_DIRECTORY.',
  ),
  MAIL_FROM: described(
    optional(
      matching(/^[^<>\r\n]*<?[^\s<>@]+@[^\s<>@]+>?$/, 'an address, with or without a name', 300),
    ),
    'Who mails are from, such as `Example <no-reply@example.com>`; needed with SMTP_URL.',
  ),
  MAIL_DIRECTORY: described(
    optional(verbatim(1000)),
    'Without SMTP_URL: the folder that mails are written into, links and all. For development.',
  ),
  DEPLOYMENT_AUTOMATION_URL: described(
    optional(serviceUrl()),
    'What deploys tenants. Without it they are neither created nor suspended, activated or deleted.',
  ),
  DEPLOYMENT_AUTOMATION_TOKEN: described(
    optional(verbatim(2000)),
    'The bearer token that it takes; needed with DEPLOYMENT_AUTOMATION_URL.',
  ),
  DEPLOYMENT_AUTOMATION_TIMEOUT_MS: described(
    // Three calls of one change fit into the time that a transaction may wait for them.
    withDefault(int(1, 15_000), 10_000),
    'How long it may take for a whole answer.',
  ),
  PROVISIONING_CHECK_SECONDS: described(
    withDefault(int(1, 3600), 5),
    'How often it is asked about tenants that it is working on.',
  ),
  CRM_URL: described(
    optional(serviceUrl()),
    'Where CRM answers, for e-mail and SMS accounts, storage usage and its health.',
  ),
  CRM_SYSTEM_TOKEN: described(
    optional(verbatim(500, 32)),
    'One of the SYSTEM_TOKENS of CRM; needed with CRM_URL.',
  ),
  CRM_TIMEOUT_MS: described(
    withDefault(int(1, 60_000), 5000),
    'How long CRM may take for a whole answer.',
  ),
  RATE_LIMIT_LOGIN: requests(5, 'Sign-ins a minute and address.'),
  RATE_LIMIT_LOGIN_FAILURES: described(
    withDefault(int(1, 1_000_000), 5),
    'Failed sign-ins a minute and account.',
  ),
  RATE_LIMIT_CLIENT_FAILURES: described(
    withDefault(int(1, 1_000_000), 10),
    'Failed authentications a minute of one OAuth client from one address.',
  ),
  RATE_LIMIT_CLIENT_FAILURES_ADDRESS: described(
    withDefault(int(1, 1_000_000), 60),
    'The same from one address, whichever clients are tried.',
  ),
  RATE_LIMIT_CLIENT_FAILURES_TOTAL: described(
    withDefault(int(1, 1_000_000), 600),
    'The same of one client, from anywhere.',
  ),
  RATE_LIMIT_TWO_FACTOR: requests(5, 'Second factors a minute, by address and by principal.'),
  RATE_LIMIT_PIN: requests(5, 'PINs a minute, by address and by principal.'),
  RATE_LIMIT_PASSWORD_FORGOT: requests(5, 'Password resets asked for an hour and address.'),
  RATE_LIMIT_PASSWORD: requests(
    10,
    'Requests a minute and principal that check or hash a password: changing it, setting or removing a factor.',
  ),
  RATE_LIMIT_MAIL: described(
    withDefault(int(1, 1_000_000), 5),
    'Mails of one kind an hour and reader that strangers can cause; about new devices, a day and network.',
  ),
  RATE_LIMIT_INVITATIONS: described(
    withDefault(int(1, 1_000_000), 100),
    'Invitations a day and tenant.',
  ),
  RATE_LIMIT_DEFAULT: requests(60, 'Requests a minute and principal.'),
  RATE_LIMIT_ADDRESS: requests(600, 'Requests a minute and address.'),
  RATE_LIMIT_PUBLIC: requests(60, 'Requests a minute and address where no token is needed.'),
  RATE_LIMIT_FORM: requests(
    60,
    'Forms of pages a minute and address, where no narrower limit counts.',
  ),
  RATE_LIMIT_SERVICE: requests(
    60_000,
    'Requests a minute and address on the routes that services call.',
  ),
  RATE_LIMIT_SERVICE_PRINCIPAL: requests(1200, 'The same by principal.'),
} as const;

const smtpOf = (url: string | undefined, from: string | undefined) => {
  if (url === undefined) return undefined;
  if (from === undefined)
    throw new Error('The configuration lacks MAIL_FROM, which SMTP_URL needs.');
  return { url, from };
};

/** Something outside, reached with a token; undefined where it is not configured. */
const reachedBy = (
  name: 'DEPLOYMENT_AUTOMATION' | 'CRM',
  {
    url,
    token,
    timeoutMs,
  }: { url: string | undefined; token: string | undefined; timeoutMs: number },
) => {
  if (url === undefined) return undefined;
  if (token !== undefined) return { url: url.replace(/\/+$/, ''), token, timeoutMs };
  const lacking = name === 'CRM' ? 'CRM_SYSTEM_TOKEN' : `${name}_TOKEN`;
  throw new Error(`The configuration lacks ${lacking}, which ${name}_URL needs.`);
};

const redirectUris = (templates: readonly string[]): readonly string[] => {
  for (const template of templates) {
    const problem = redirectUriProblem(tenantRedirectUri(template, 'slug'));
    if (problem)
      throw new Error(`TENANT_CLIENT_REDIRECT_URIS: ${template} is refused: ${problem}.`);
  }
  return templates;
};

/** Reads the configuration; throws one error that names every variable that does not fit. */
export const readConfig = (environment: Readonly<Record<string, string | undefined>>) => {
  const read = readSettings(variables, environment);
  return {
    ...serviceSettings(read),
    issuer: read.ISSUER,
    /** Where the pages for people are. */
    pages: read.FRONTEND_URL ?? read.ISSUER,
    frontendLoginUrl: read.FRONTEND_LOGIN_URL,
    brandName: read.BRAND_NAME,
    brand: brandOf({
      accent: read.BRAND_ACCENT,
      accentDark: read.BRAND_ACCENT_DARK,
      logo: read.BRAND_LOGO,
    }),
    geoipDatabase: read.GEOIP_DATABASE,
    reservedSlugs: read.RESERVED_SLUGS,
    /** Seconds; 0: never. */
    idleSignOut: read.IDLE_SIGN_OUT_SECONDS,
    tenantRedirectUris: redirectUris(read.TENANT_CLIENT_REDIRECT_URIS),
    deploymentAutomation: reachedBy('DEPLOYMENT_AUTOMATION', {
      url: read.DEPLOYMENT_AUTOMATION_URL,
      token: read.DEPLOYMENT_AUTOMATION_TOKEN,
      timeoutMs: read.DEPLOYMENT_AUTOMATION_TIMEOUT_MS,
    }),
    /** Seconds. */
    provisioningCheck: read.PROVISIONING_CHECK_SECONDS,
    crm: reachedBy('CRM', {
      url: read.CRM_URL,
      token: read.CRM_SYSTEM_TOKEN,
      timeoutMs: read.CRM_TIMEOUT_MS,
    }),
    mail: { smtp: smtpOf(read.SMTP_URL, read.MAIL_FROM), directory: read.MAIL_DIRECTORY },
    keyEncryptionKeys: encryptionKeys(read.KEY_ENCRYPTION_KEYS),
    /** In seconds. */
    lifetimes: {
      accessToken: read.ACCESS_TOKEN_TTL,
      personalAccessToken: read.PERSONAL_ACCESS_TOKEN_TTL,
      reuseGrace: read.REFRESH_REUSE_GRACE_SECONDS,
      session: read.SESSION_TTL,
      remembered: read.REMEMBER_TTL,
      passwordReset: read.PASSWORD_RESET_TTL,
      emailVerification: read.EMAIL_VERIFICATION_TTL,
      emailChange: read.EMAIL_CHANGE_TTL,
      emailChangeUndo: read.EMAIL_CHANGE_UNDO_TTL,
      registration: read.REGISTRATION_TTL,
      invitation: read.INVITATION_TTL,
      pendingSignIn: read.TWO_FACTOR_PENDING_TTL,
      deviceTrust: read.TRUSTED_DEVICE_TTL,
      impersonation: read.IMPERSONATION_TTL,
      apiKey: { usual: read.API_KEY_TTL, longest: read.API_KEY_MAX_TTL },
    },
    /** Seconds. */
    reauthenticateAfter: read.REAUTHENTICATE_AFTER_SECONDS,
    /** Seconds. */
    accountDeletionDelay: read.ACCOUNT_DELETION_DELAY,
    exports: { ofCaller: read.EXPORTS_PER_CALLER, reads: read.EXPORT_READS },
    twoFactorIssuer: read.TWO_FACTOR_ISSUER,
    lockout: { attempts: read.LOCKOUT_ATTEMPTS, firstLock: read.LOCKOUT_SECONDS },
    passwords: {
      cost: read.BCRYPT_COST,
      queueLimit: read.HASH_QUEUE_LIMIT,
      minLength: read.PASSWORD_MIN_LENGTH,
      brandName: read.BRAND_NAME,
    },
    passwordHistory: read.PASSWORD_HISTORY,
    registrationEnabled: read.REGISTRATION_ENABLED,
    /** Requests a minute. */
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
  };
};

export type Config = ReturnType<typeof readConfig>;
