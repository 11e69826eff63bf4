import {
  bool,
  complete,
  described,
  email,
  int,
  mapOf,
  matching,
  named,
  nullable,
  type Out,
  oneOf,
  optional,
  rawText,
  shape,
  text,
  time,
  uuid,
  withDefault,
} from '@tessera/fields';

/** How a message is sent. */
export type Channel = 'email' | 'sms';

const name = described(text(100), 'Unique in the tenant');
const isActive = withDefault(bool(), true);

const emailSettings = {
  from_address: email(),
  from_name: withDefault(nullable(text(200)), null),
  host: described(
    matching(/^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/, 'a host name', 253),
    'The SMTP server',
    'smtp.example.com',
  ),
  port: withDefault(int(1, 65_535), 587),
  security: withDefault(oneOf('starttls', 'tls', 'none'), 'starttls'),
} as const;

const smsSettings = {
  provider: described(
    matching(/^[a-z0-9_-]+$/, 'a lower-case name', 50),
    'The provider that sends',
    'twilio',
  ),
  sender: described(
    matching(
      /^(\+[1-9][0-9]{6,14}|[A-Za-z0-9 ]{1,11})$/,
      'a number such as +3612345678, or a name',
      20,
    ),
    'The sender that recipients see',
    '+3612345678',
  ),
} as const;

const secrecy = 'Stored encrypted and never returned. Null means none.';

/** What an update of an account does to fields that are absent. */
export const accountChange =
  'Absent fields keep their values, including credentials. A change of `host`, `port`, `security`, or `provider` requires `credentials` as well: the stored ones are never sent to another server.';

/** The body that creates an email account. */
export const EmailAccountInput = named(
  'EmailAccountInput',
  shape({
    name,
    ...emailSettings,
    is_active: isActive,
    credentials: described(
      optional(nullable(shape({ username: rawText(500), password: rawText(2000) }))),
      secrecy,
    ),
  }),
);

/** The body that creates an SMS account. */
export const SmsAccountInput = named(
  'SmsAccountInput',
  shape({
    name,
    ...smsSettings,
    is_active: isActive,
    credentials: described(
      optional(nullable(mapOf(rawText(4000), 20))),
      `The credentials that the provider requires, by its own names. ${secrecy}`,
      { account_sid: 'AC0', auth_token: 'secret' },
    ),
  }),
);

const readOnly = { has_credentials: bool(), created_at: time(), updated_at: time() } as const;

/** An email account in a response, without its credentials. */
export const EmailAccount = named(
  'EmailAccount',
  shape({
    id: uuid(),
    ...complete(shape({ name, ...emailSettings, is_active: isActive })).fields,
    ...readOnly,
  }),
);

/** An SMS account in a response, without its credentials. */
export const SmsAccount = named(
  'SmsAccount',
  shape({
    id: uuid(),
    ...complete(shape({ name, ...smsSettings, is_active: isActive })).fields,
    ...readOnly,
  }),
);

export type EmailAccountPayload = Out<typeof EmailAccount>;
export type SmsAccountPayload = Out<typeof SmsAccount>;

/** The body that sends a test message through an email account. */
export const EmailTestInput = named(
  'EmailTestInput',
  shape({ to: described(email(), 'The address that receives the message') }),
);

/** The body that sends a test message through an SMS account. */
export const SmsTestInput = named(
  'SmsTestInput',
  shape({
    to: described(
      matching(/^\+[1-9][0-9]{6,14}$/, 'a number such as +3612345678', 16),
      'The number that receives the message, in E.164 format',
      '+3612345678',
    ),
  }),
);

/** The response to a test message that was accepted. */
export const SentMessage = named(
  'SentMessage',
  shape({
    sent: described(bool(), 'Always true; a message that was not accepted is an error'),
    message_id: described(rawText(400), "The Message-ID of the mail, or the provider's id"),
  }),
);

/** What the responses of a test message mean, in the descriptions of the routes. */
export const accountTest = {
  description:
    'The text of the message is fixed. An account can be tested 5 times per minute, also while it is not active. A server in a private network is reached only if `OUTBOUND_ALLOWED_NETWORKS` contains it.',
  refused:
    'Invalid input; or `message_not_sent`: `step` says whether the provider, the credentials, the address, TLS, the authentication, the sender, the recipient or the message is the problem',
  failed: 'The server cannot be reached or refused the message for now (`message_not_sent`)',
} as const;
