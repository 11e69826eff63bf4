import {
  described,
  type Field,
  type Fields,
  int,
  list,
  nullable,
  type Out,
  oneOf,
  openShape,
  optional,
  type Shape,
  text,
  uuid,
} from '@tessera/fields';

/** One kind of event. Its name is its topic. */
interface Kind<F extends Fields> {
  readonly summary: string;
  /** What consumers read; they ignore what later versions add. */
  readonly data: Shape<F>;
  /** Describes the record's key. Records of one key keep their order. */
  readonly keyField: Field;
  /** The record's key: the tenant, or the user where there is no tenant. None: the data names nobody. */
  key(data: Out<Shape<F>>): string | undefined;
  readonly example: Out<Shape<F>>;
}

const kind = <const F extends Fields>(definition: Kind<F>): Kind<F> => definition;

const TENANT = '01980a5d-ac96-774b-bcce-b302099a8057';
const USER = '01980a5d-b0c1-7d52-9f0e-6a2d7e4c1b93';

const tenantKey = described(uuid(), 'The tenant', TENANT);
const userKey = described(uuid(), 'The user', USER);

/** More users than this are told as "everybody": a record stays small. */
export const MAX_NAMED_USERS = 1000;

const ofUser = openShape({ user_id: uuid() });

const Revocation = openShape({
  token_id: optional(described(text(200), 'This token is gone')),
  session_id: optional(described(uuid(), 'The tokens of this session are gone')),
  user_id: optional(described(uuid(), 'All tokens of this user are gone')),
  client_id: optional(described(text(200), 'All tokens of this client are gone')),
  kid: optional(described(text(200), 'All tokens signed with this key are gone')),
  reason: described(text(200), 'Why, in one word', 'logout'),
});

const named = ['token_id', 'session_id', 'user_id', 'client_id', 'kid'] as const;

export const kinds = {
  'identity.policy.updated': kind({
    summary: 'What some or all members of a tenant may do has changed.',
    data: openShape({
      tenant_id: uuid(),
      version: described(
        int(0, Number.MAX_SAFE_INTEGER),
        'Of the policies of the tenant; grows with every change',
      ),
      user_ids: described(
        nullable(list(uuid(), { max: MAX_NAMED_USERS })),
        'Whose policies have changed; null is everybody',
      ),
    }),
    keyField: tenantKey,
    key: ({ tenant_id }) => tenant_id,
    example: { tenant_id: TENANT, version: 7, user_ids: [USER] },
  }),
  'identity.user.updated': kind({
    summary: 'What identity says of a user has changed.',
    data: ofUser,
    keyField: userKey,
    key: ({ user_id }) => user_id,
    example: { user_id: USER },
  }),
  'identity.user.deactivated': kind({
    summary: 'A user may no longer do anything.',
    data: ofUser,
    keyField: userKey,
    key: ({ user_id }) => user_id,
    example: { user_id: USER },
  }),
  'identity.tenant.status_changed': kind({
    summary: 'A tenant has moved to another state.',
    data: openShape({
      tenant_id: uuid(),
      status: oneOf('provisioning', 'active', 'suspended', 'failed', 'deleting', 'gone'),
    }),
    keyField: tenantKey,
    key: ({ tenant_id }) => tenant_id,
    example: { tenant_id: TENANT, status: 'suspended' },
  }),
  'identity.token.revoked': kind({
    summary: 'Tokens are gone before their time.',
    data: {
      ...Revocation,
      json: { ...Revocation.json, anyOf: named.map((name) => ({ required: [name] })) },
    },
    keyField: described(
      text(200),
      'The user; without one the client, the session, the token or the key',
    ),
    key: ({ user_id, client_id, session_id, token_id, kid }) =>
      user_id ?? client_id ?? session_id ?? token_id ?? kid,
    example: { user_id: USER, reason: 'logout-all' },
  }),
} as const;

export type EventType = keyof typeof kinds;
export type EventData<T extends EventType> = Out<(typeof kinds)[T]['data']>;

export const eventTypes = Object.keys(kinds) as EventType[];

/** What is gone: that token, or all of the session, of the user, of the client, or of the signing key. */
export interface Revoked {
  readonly by: (typeof named)[number];
  readonly id: string;
}

/** Reads a revocation: the first of its ids says what is gone, the others only whose it was. */
export const revoked = (data: EventData<'identity.token.revoked'>): Revoked | null => {
  for (const by of named) {
    const id = data[by];
    if (id !== undefined) return { by, id };
  }
  return null;
};
