import {
  bool,
  described,
  email,
  int,
  list,
  named,
  nullable,
  type Out,
  oneOf,
  rawText,
  shape,
  text,
  time,
  uuid,
} from '@tessera/fields';
import { LoggedChanges } from '../../activity/changes.ts';

/**
 * Incremented when a field is renamed, moved or changes its meaning; new fields do not change it.
 */
export const SCHEMA_VERSION = 1;

const ANY = Number.MAX_SAFE_INTEGER;
const all = <F extends Parameters<typeof list>[0]>(item: F) => list(item, { max: ANY });

const agent = { ip_address: nullable(text(100)), user_agent: nullable(rawText(500, 0)) };
const TenantName = shape({ id: uuid(), slug: text(63), name: text(200) });

const Activity = shape({
  id: uuid(),
  created_at: time(),
  action: text(100),
  tenant_id: nullable(uuid()),
  reason: nullable(rawText(500, 0)),
  ...agent,
  by_administrator: described(bool(), 'True if an administrator acted as the user'),
  changes: LoggedChanges,
});

const ActivityByOthers = shape({
  id: uuid(),
  created_at: time(),
  action: text(100),
  tenant_id: nullable(uuid()),
});

const one = {
  profile: shape({
    id: uuid(),
    email: nullable(text(254)),
    email_verified_at: nullable(time()),
    first_name: text(200),
    last_name: rawText(200, 0),
    phone: nullable(text(50)),
    avatar_url: nullable(text(2000)),
    timezone: text(64),
    locale: text(35),
    current_tenant_id: nullable(uuid()),
    is_active: bool(),
    is_service_account: bool(),
    is_system_admin: bool(),
    last_login_at: nullable(time()),
    created_at: time(),
    updated_at: time(),
  }),
  picture: described(
    nullable(shape({ created_at: time() })),
    'The image is available at `profile.avatar_url`',
  ),
  password: shape({
    is_set: bool(),
    changed_at: nullable(time()),
    must_be_changed: bool(),
  }),
  two_factor: nullable(
    shape({
      created_at: time(),
      confirmed_at: nullable(time()),
      failures: int(0, ANY),
      locked_until: nullable(time()),
      recovery_failures: int(0, ANY),
      recovery_locked_until: nullable(time()),
      recovery_codes_left: int(0, ANY),
      recovery_codes_used: int(0, ANY),
    }),
  ),
  pin: nullable(
    shape({ created_at: time(), failures: int(0, ANY), locked_until: nullable(time()) }),
  ),
  registration: described(
    nullable(shape({ tenant_name: text(200), expires_at: time() })),
    'A registration that is not confirmed yet',
  ),
  deletion: nullable(
    shape({ requested_at: time(), due_at: time(), reminded_at: nullable(time()) }),
  ),
};

const many = {
  memberships: shape({
    tenant: TenantName,
    role: text(100),
    policies: all(shape({ action: text(300), effect: oneOf('allow', 'deny') })),
    joined_at: time(),
  }),
  devices: shape({
    id: uuid(),
    name: text(200),
    custom_name: nullable(text(200)),
    type: text(50),
    browser: text(200),
    os: text(200),
    networks: all(text(100)),
    trusted_until: nullable(time()),
    last_used_at: time(),
    created_at: time(),
    ...agent,
  }),
  sessions: shape({
    id: uuid(),
    device_id: nullable(uuid()),
    authenticated_by: all(text(50)),
    is_remembered: bool(),
    is_locked: described(bool(), 'True until the PIN is entered'),
    created_at: time(),
    authenticated_at: time(),
    last_active_at: time(),
    expires_at: time(),
    ended_at: nullable(time()),
    ...agent,
  }),
  tokens: shape({
    id: uuid(),
    use: text(50),
    name: nullable(text(300)),
    client_id: text(200),
    tenant_id: nullable(uuid()),
    session_id: nullable(uuid()),
    scopes: described(all(text(4000)), 'Empty means no limit'),
    created_at: time(),
    expires_at: time(),
    last_used_at: nullable(time()),
    revoked_at: nullable(time()),
  }),
  applications: shape({
    client_id: text(200),
    name: text(200),
    tenant: nullable(TenantName),
    scopes: all(text(4000)),
    created_at: time(),
    updated_at: time(),
  }),
  previous_passwords: described(
    shape({ replaced_at: time() }),
    'When each password was replaced; only hashes are stored',
  ),
  mailed_links: shape({
    purpose: text(50),
    email: email(),
    tenant: nullable(TenantName),
    created_at: time(),
    expires_at: time(),
    used_at: nullable(time()),
  }),
  invitations_received: described(
    shape({
      tenant: nullable(TenantName),
      role: nullable(text(100)),
      created_at: time(),
      expires_at: time(),
      used_at: nullable(time()),
    }),
    'Without the inviter',
  ),
  invitations_made: described(
    shape({
      tenant: nullable(TenantName),
      role: nullable(text(100)),
      created_at: time(),
      expires_at: time(),
      used_at: nullable(time()),
    }),
    'Without the invited person',
  ),
  activity: Activity,
  activity_as_administrator: described(
    ActivityByOthers,
    'Actions by impersonation, without the impersonated user',
  ),
  activity_of_others: described(
    shape({ ...ActivityByOthers.fields, changes: LoggedChanges }),
    'Actions of others on the account, without the actor',
  ),
};

/** All data that identity stores about a user. */
export const PersonalData = named(
  'PersonalData',
  shape({
    schema_version: oneOf(SCHEMA_VERSION),
    exported_at: time(),
    ...one,
    memberships: all(many.memberships),
    devices: all(many.devices),
    sessions: all(many.sessions),
    tokens: all(many.tokens),
    applications: all(many.applications),
    previous_passwords: all(many.previous_passwords),
    mailed_links: all(many.mailed_links),
    invitations_received: all(many.invitations_received),
    invitations_made: all(many.invitations_made),
    activity: all(many.activity),
    activity_as_administrator: all(many.activity_as_administrator),
    activity_of_others: all(many.activity_of_others),
  }),
);

type Data = Out<typeof PersonalData>;

/** Single objects of the export. */
export type Single = Pick<Data, keyof typeof one>;
/** Lists of the export, in document order. */
export type Section = keyof typeof many;
export type Entries = { readonly [S in Section]: Data[S] };

export const sectionNames = Object.keys(many) as readonly Section[];

/** File name of the export. */
export const FILE_NAME = 'account-data.json';
