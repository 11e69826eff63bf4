import { MAX_PATTERN_LENGTH, MAX_SCOPES } from '@tessera/contracts';
import {
  bool,
  email,
  list,
  matching,
  nullable,
  type Out,
  optional,
  rawText,
  shape,
  text,
  uuid,
  withDefault,
} from '@tessera/fields';

const slug = matching(
  /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/,
  'lower-case letters, digits and dashes',
  63,
);
/** The id of a client. */
export const clientIdField = matching(
  /^[\w.-]{1,100}$/,
  'letters, digits, dots, dashes and underscores',
  100,
);
const secret = rawText(200, 32);
/** The scopes of a system application. */
export const scopes = list(rawText(MAX_PATTERN_LENGTH), { min: 1, max: MAX_SCOPES });
const many = { max: 10_000 };

/** The document that `identity-admin seed` reads: what should exist. */
export const Seed = shape({
  tenants: withDefault(
    list(shape({ id: uuid(), slug, name: text(200), plan: text(50) }), many),
    [],
  ),
  users: withDefault(
    list(
      shape({
        id: uuid(),
        email: email(),
        first_name: text(200),
        last_name: text(200),
        password: rawText(1000),
        is_system_admin: withDefault(bool(), false),
        memberships: withDefault(list(shape({ tenant_slug: slug, role: text(100) }), many), []),
      }),
      many,
    ),
    [],
  ),
  system_applications: withDefault(
    list(
      shape({
        client_id: clientIdField,
        name: text(200),
        client_secret: secret,
        scopes,
      }),
      many,
    ),
    [],
  ),
  clients: withDefault(
    list(
      shape({
        client_id: clientIdField,
        name: text(200),
        client_secret: nullable(secret),
        redirect_uris: list(rawText(2000), { min: 1 }),
        is_trusted: withDefault(bool(), false),
        is_first_party: withDefault(bool(), false),
        /** For third-party clients only. */
        scopes: withDefault(list(text(300)), []),
        tenant_slug: optional(slug),
      }),
      many,
    ),
    [],
  ),
});

export type SeedDocument = Out<typeof Seed>;
