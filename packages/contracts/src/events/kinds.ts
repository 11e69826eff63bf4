import {
  described,
  type Field,
  type Fields,
  int,
  list,
  nullable,
  type Out,
  openShape,
  optional,
  type Shape,
  text,
  uuid,
} from '@tessera/fields';
import { openEnum } from './open-enum.ts';

/** A kind of event. Its name is also its topic. */
interface Kind<F extends Fields> {
  readonly summary: string;
  /** The `data` of the event; consumers ignore what later versions add. */
  readonly data: Shape<F>;
  /** Describes the record's key. Records of one key keep their order. */
  readonly keyField: Field;
  /** The key of the record: the tenant, or else the user; undefined if the data names neither. */
  key(data: Out<Shape<F>>): string | undefined;
  readonly example: Out<Shape<F>>;
}

const kind = <const F extends Fields>(definition: Kind<F>): Kind<F> => definition;

const TENANT = '01980a5d-ac96-774b-bcce-b302099a8057';
const USER = '01980a5d-b0c1-7d52-9f0e-6a2d7e4c1b93';

const tenantKey = described(uuid(), 'The tenant', TENANT);
const userKey = described(uuid(), 'The user', USER);

/** The maximum number of users in an event; more are reported as everyone, so that records stay small. */
export const MAX_NAMED_USERS = 1000;

const ofUser = openShape({ user_id: uuid() });

const Revocation = openShape({
  token_id: optional(described(text(200), 'The token that was revoked')),
  session_id: optional(described(uuid(), 'All tokens of this session were revoked')),
  user_id: optional(described(uuid(), 'All tokens of this user were revoked')),
  client_id: optional(described(text(200), 'All tokens of this client were revoked')),
  kid: optional(described(text(200), 'All tokens signed with this key were revoked')),
  reason: described(text(200), 'The reason, in one word', 'logout'),
});

const named = ['token_id', 'session_id', 'user_id', 'client_id', 'kid'] as const;

export const kinds = {
  'identity.policy.updated': kind({
    summary: 'The policies of some or all members of a tenant have changed.',
    data: openShape({
      tenant_id: uuid(),
      version: described(
        int(0, Number.MAX_SAFE_INTEGER),
        'The version of the policies of the tenant; grows with every change',
      ),
      user_ids: described(
        nullable(list(uuid(), { max: MAX_NAMED_USERS })),
        'The users whose policies have changed; null means everyone',
      ),
    }),
    keyField: tenantKey,
    key: ({ tenant_id }) => tenant_id,
    example: { tenant_id: TENANT, version: 7, user_ids: [USER] },
  }),
  'identity.user.updated': kind({
    summary: 'A user has changed: administrator, name, or address.',
    data: ofUser,
    keyField: userKey,
    key: ({ user_id }) => user_id,
    example: { user_id: USER },
  }),
  'identity.user.deactivated': kind({
    summary: 'A user was deactivated.',
    data: ofUser,
    keyField: userKey,
    key: ({ user_id }) => user_id,
    example: { user_id: USER },
  }),
  'identity.tenant.status_changed': kind({
    summary: 'The status of a tenant has changed.',
    data: openShape({
      tenant_id: uuid(),
      status: openEnum('provisioning', 'active', 'suspended', 'failed', 'deleting', 'gone'),
    }),
    keyField: tenantKey,
    key: ({ tenant_id }) => tenant_id,
    example: { tenant_id: TENANT, status: 'suspended' },
  }),
  'identity.token.revoked': kind({
    summary: 'Tokens were revoked.',
    data: {
      ...Revocation,
      json: { ...Revocation.json, anyOf: named.map((name) => ({ required: [name] })) },
    },
    keyField: described(
      text(200),
      'The user, or else the client, the session, the token, or the signing key',
    ),
    key: ({ user_id, client_id, session_id, token_id, kid }) =>
      user_id ?? client_id ?? session_id ?? token_id ?? kid,
    example: { user_id: USER, reason: 'logout-all' },
  }),
} as const;

export type EventType = keyof typeof kinds;
export type EventData<T extends EventType> = Out<(typeof kinds)[T]['data']>;

export const eventTypes = Object.keys(kinds) as EventType[];

/** What was revoked: one token, or all tokens of a session, a user, a client, or a signing key. */
export interface RevocationTarget {
  readonly by: (typeof named)[number];
  readonly id: string;
}

/** What a revocation affects: the first id determines it, the others only describe it. */
export const revocationTarget = (
  data: EventData<'identity.token.revoked'>,
): RevocationTarget | null => {
  for (const by of named) {
    const id = data[by];
    if (id !== undefined) return { by, id };
  }
  return null;
};
