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
  shape,
  text,
  time,
  uuid,
  verbatim,
  withDefault,
} from '@tessera/fields';

/** What a message is sent by. */
export type Channel = 'email' | 'sms';

const name = described(text(100), 'Given once in the tenant');
const isActive = withDefault(bool(), true);

const emailSettings = {
  from_address: email(),
  from_name: withDefault(nullable(text(200)), null),
  host: described(
    matching(/^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/, 'the name of a host', 253),
    'The SMTP server',
    'smtp.example.com',
  ),
  port: withDefault(int(1, 65_535), 587),
  security: withDefault(oneOf('starttls', 'tls', 'none'), 'starttls'),
} as const;

const smsSettings = {
  provider: described(matching(/^[a-z0-9_-]+$/, 'a name in lower case', 50), 'Who sends', 'twilio'),
  sender: described(
    matching(
      /^(\+[1-9][0-9]{6,14}|[A-Za-z0-9 ]{1,11})$/,
      'a number such as +3612345678, or a name',
      20,
    ),
    'What the reader sees',
    '+3612345678',
  ),
} as const;

const kept = 'Sealed where it is stored, and never told. Null: none.';

/** What changing an account does to the fields that are left out. */
export const accountChange =
  'Fields that are left out keep their values, credentials included. A change of `host`, `port`, `security` or `provider` needs `credentials` as well: the stored ones are never sent to another server.';

/** What creating an email account takes. */
export const EmailAccountInput = named(
  'EmailAccountInput',
  shape({
    name,
    ...emailSettings,
    is_active: isActive,
    credentials: described(
      optional(nullable(shape({ username: verbatim(500), password: verbatim(2000) }))),
      kept,
    ),
  }),
);

/** What creating an SMS account takes. */
export const SmsAccountInput = named(
  'SmsAccountInput',
  shape({
    name,
    ...smsSettings,
    is_active: isActive,
    credentials: described(
      optional(nullable(mapOf(verbatim(4000), 20))),
      `What the provider asks for, by its own names. ${kept}`,
      { account_sid: 'AC0', auth_token: 'secret' },
    ),
  }),
);

const told = { has_credentials: bool(), created_at: time(), updated_at: time() } as const;

/** What is told of an email account. */
export const EmailAccount = named(
  'EmailAccount',
  shape({
    id: uuid(),
    ...complete(shape({ name, ...emailSettings, is_active: isActive })).fields,
    ...told,
  }),
);

/** What is told of an SMS account. */
export const SmsAccount = named(
  'SmsAccount',
  shape({
    id: uuid(),
    ...complete(shape({ name, ...smsSettings, is_active: isActive })).fields,
    ...told,
  }),
);

export type EmailAccountPayload = Out<typeof EmailAccount>;
export type SmsAccountPayload = Out<typeof SmsAccount>;
