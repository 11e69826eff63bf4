import fc from 'fast-check';
import {
  type EventData,
  type EventType,
  eventKey,
  eventTypes,
  type IdentityEvent,
  identityEvent,
  MAX_NAMED_USERS,
  parseEvent,
  revocationTarget,
} from '../index.ts';

const uuid = fc.uuid();
const name = fc.stringMatching(/^[\w-]{1,20}$/);
const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(value, { nil: undefined });

const anyData: { [T in EventType]: fc.Arbitrary<EventData<T>> } = {
  'identity.policy.updated': fc.record({
    tenant_id: uuid,
    version: fc.maxSafeNat(),
    user_ids: fc.option(fc.array(uuid)),
  }),
  'identity.user.updated': fc.record({ user_id: uuid }),
  'identity.user.deactivated': fc.record({ user_id: uuid }),
  'identity.tenant.status_changed': fc.record({
    tenant_id: uuid,
    status: fc.constantFrom('active', 'suspended', 'gone'),
  }),
  'identity.token.revoked': fc
    .record({
      token_id: maybe(name),
      session_id: maybe(uuid),
      user_id: maybe(uuid),
      client_id: maybe(name),
      reason: name,
    })
    .map((data) => JSON.parse(JSON.stringify(data)) as EventData<'identity.token.revoked'>)
    .filter((data) => revocationTarget(data) !== null),
};

const anyEvent = fc.constantFrom(...eventTypes).chain((type) =>
  fc
    .record({
      data: anyData[type] as fc.Arbitrary<EventData<EventType>>,
      id: uuid,
      time: fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }),
    })
    .map(({ data, ...context }) => identityEvent(type, data, context)),
);

const context = { id: 'e-1', time: new Date('2026-01-31T12:00:00Z') };
const TENANT = '01980a5d-ac96-774b-bcce-b302099a8057';
const USER = '01980a5d-b0c1-7d52-9f0e-6a2d7e4c1b93';
const policyUpdated = identityEvent(
  'identity.policy.updated',
  { tenant_id: TENANT, version: 3, user_ids: null },
  context,
);

describe('an event', () => {
  test('is CloudEvents 1.0 in structured JSON', () => {
    expect(JSON.parse(JSON.stringify(policyUpdated))).toEqual({
      specversion: '1.0',
      id: 'e-1',
      source: '/tessera/identity',
      type: 'identity.policy.updated',
      subject: TENANT,
      time: '2026-01-31T12:00:00.000Z',
      datacontenttype: 'application/json',
      data: { tenant_id: TENANT, version: 3, user_ids: null },
    });
  });

  test('is unchanged after it is parsed', () => {
    fc.assert(
      fc.property(anyEvent, (event) => {
        expect(parseEvent(event.type, JSON.stringify(event))).toEqual({ ok: true, event });
      }),
    );
  });

  test('has data of the type of its kind', () => {
    const versionOf = (event: IdentityEvent): number | undefined =>
      event.type === 'identity.policy.updated' ? event.data.version : undefined;
    expect(versionOf(policyUpdated)).toBe(3);
    // @ts-expect-error this kind has no version
    const wrong = (event: IdentityEvent<'identity.user.updated'>): number => event.data.version;
    expect(wrong).toBeDefined();
  });

  test('with invalid data is not created', () => {
    const data = { tenant_id: TENANT, version: -1, user_ids: null };
    expect(() => identityEvent('identity.policy.updated', data, context)).toThrow(
      'Invalid identity.policy.updated: data.version must be greater than or equal to 0',
    );
    const many = { tenant_id: TENANT, version: 1, user_ids: Array(MAX_NAMED_USERS + 1).fill(USER) };
    expect(() => identityEvent('identity.policy.updated', many, context)).toThrow(TypeError);
    expect(() => identityEvent('identity.token.revoked', { reason: 'logout' }, context)).toThrow(
      TypeError,
    );
  });

  test('has only the data of its kind', () => {
    const data = { user_id: USER, email: 'ada@example.com' };
    const event = identityEvent('identity.user.updated', data, context);
    expect(event.data).toEqual({ user_id: USER });
  });
});

describe('eventKey', () => {
  test('is the tenant, or the user if there is no tenant', () => {
    const keys = [
      policyUpdated,
      identityEvent('identity.user.updated', { user_id: USER }, context),
      identityEvent(
        'identity.token.revoked',
        { token_id: 't', user_id: USER, reason: 'x' },
        context,
      ),
      identityEvent('identity.token.revoked', { client_id: 'ci', reason: 'x' }, context),
    ].map(eventKey);
    expect(keys).toEqual([TENANT, USER, USER, 'ci']);
  });
});

describe('revocationTarget', () => {
  test.each([
    [
      { token_id: 't', session_id: USER, user_id: USER },
      { by: 'token_id', id: 't' },
    ],
    [
      { session_id: TENANT, user_id: USER },
      { by: 'session_id', id: TENANT },
    ],
    [
      { user_id: USER, client_id: 'ci' },
      { by: 'user_id', id: USER },
    ],
    [{ client_id: 'ci' }, { by: 'client_id', id: 'ci' }],
    [{}, null],
  ])('is determined by the first id in %j', (data, expected) => {
    expect(revocationTarget({ ...data, reason: 'logout' })).toEqual(expected);
  });
});

describe('parseEvent', () => {
  const topic = 'identity.policy.updated';
  const changed = (change: object): string => JSON.stringify({ ...policyUpdated, ...change });

  test('ignores what later versions and intermediaries add', () => {
    const data = { ...policyUpdated.data, because: 'x' };
    expect(parseEvent(topic, changed({ traceparent: '00-1', data }))).toEqual({
      ok: true,
      event: policyUpdated,
    });
  });

  test.each([
    ['{nope', 'The value is not JSON.'],
    ['', 'The value is not JSON.'],
    ['null', 'event must be of type object'],
    ['[]', 'event must be of type object'],
    [changed({ type: 'identity.user.updated' }), 'type must be [identity.policy.updated]'],
    [changed({ specversion: '0.3' }), 'specversion must be [1.0]'],
    [changed({ time: 'soon' }), expect.stringContaining('time must be an existing time')],
    [changed({ data: undefined }), 'data is required'],
    [
      changed({ data: { tenant_id: 'secret', version: '3' } }),
      'data.tenant_id must be a UUID; data.version must be an integer; data.user_ids is required',
    ],
    [changed({ subject: USER }), 'subject does not match the data'],
  ])('refuses %s, with a reason that names the field and contains no values', (text, reason) => {
    expect(parseEvent(topic, text)).toEqual({ ok: false, reason });
  });

  test('accepts a value that a later release has added to an enum', () => {
    const data = { tenant_id: TENANT, status: 'active' } as const;
    const event = identityEvent('identity.tenant.status_changed', data, context);
    const later = { ...event, data: { ...data, status: 'archived' } };
    expect(parseEvent(event.type, JSON.stringify(later))).toEqual({ ok: true, event: later });
  });

  test('refuses an unknown topic', () => {
    for (const unknown of ['identity.policy', 'toString', '__proto__', '']) {
      expect(parseEvent(unknown, JSON.stringify(policyUpdated)).ok).toBe(false);
    }
  });

  test('never throws, whatever the text', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...eventTypes),
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.tuple(anyEvent, fc.jsonValue()).map(([e, data]) => JSON.stringify({ ...e, data })),
        ),
        (type, text) => typeof parseEvent(type, text).ok === 'boolean',
      ),
    );
  });
});
