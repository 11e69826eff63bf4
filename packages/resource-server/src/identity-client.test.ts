import { createIdentityClient, type IdentityClient } from './identity-client.ts';
import { IdentityStandIn, type Reply, refusal } from './testing/identity.ts';

const identity = new IdentityStandIn();
let client: IdentityClient;

beforeAll(async () => {
  await identity.start();
  client = createIdentityClient({ url: `${identity.url}/`, timeoutMs: 20_000 });
});
afterEach(() => identity.restore());
afterAll(() => identity.stop());

const ask = async (reply: Reply) => {
  const { token } = identity.signIn();
  identity.intercept('/api/user', () => reply);
  return client.principal(token);
};

describe('the client of identity', () => {
  test('returns the principal, and forwards the tenant that the caller named', async () => {
    const person = identity.signIn();
    const answer = await client.principal(person.token, 'acme');
    expect(answer).toMatchObject({ outcome: 'answered', value: { id: person.id } });
    expect(identity.lastHeaders('/api/user')).toMatchObject({
      authorization: `Bearer ${person.token}`,
      'x-tenant': 'acme',
    });
  });

  test('sends no tenant if none was named', async () => {
    await client.principal(identity.signIn().token);
    expect(identity.lastHeaders('/api/user')).not.toHaveProperty('x-tenant');
  });

  test('returns policies with their version, and keys', async () => {
    const policies = [{ action: '*', effect: 'allow' as const }];
    const { token } = identity.signIn({ policies });
    expect(await client.policies(token)).toEqual({
      outcome: 'answered',
      value: { policies, version: 1 },
    });
    expect(await client.keys()).toEqual({ outcome: 'answered', value: [identity.signer.jwk] });
  });

  test('accepts bare answers without a version', async () => {
    const { token } = identity.signIn();
    identity.intercept('/api/user', () => ({ status: 200, body: '{"id":"dev","more":1}' }));
    identity.intercept('/api/policies', () => ({ status: 200, body: '[]' }));
    expect(await client.principal(token)).toMatchObject({ value: { id: 'dev' } });
    expect(await client.policies(token)).toEqual({ outcome: 'answered', value: { policies: [] } });
  });

  test('accepts a caller with the maximum number of tenants and the longest names', async () => {
    const tenants = Array.from({ length: 10_000 }, (_none, n) => ({
      ...identity.acme,
      slug: `${n}`.padEnd(63, 'x'),
      name: '𝔄'.repeat(200),
      plan: 'p'.repeat(100),
    }));
    const { token } = identity.signIn({ tenants });
    const patient = createIdentityClient({ url: identity.url, timeoutMs: 60_000 });
    expect(await patient.principal(token)).toMatchObject({
      outcome: 'answered',
      value: { tenants: { length: 10_000 } },
    });
  });

  test('reuses its connection', async () => {
    const { token } = identity.signIn();
    await client.principal(token);
    const { connections } = identity;
    for (let i = 0; i < 5; i += 1) await client.principal(token);
    expect(identity.connections).toBe(connections);
  });
});

describe('a refusal of identity', () => {
  test('401 rejects the token', async () => {
    expect(await ask(refusal(401, 'unauthenticated'))).toEqual({ outcome: 'rejected' });
    expect(await ask({ status: 401, body: '' })).toEqual({ outcome: 'rejected' });
  });

  test('403 forbids with the code of identity', async () => {
    const answer = await ask(refusal(403, 'pin_required'));
    expect(answer).toMatchObject({ outcome: 'forbidden', code: 'pin_required' });
  });

  test('403 without a valid code has a general code', async () => {
    const answer = await ask({ status: 403, body: '{"error": "<b>", "message": 7}' });
    expect(answer).toMatchObject({ outcome: 'forbidden', code: 'permission_denied' });
  });

  test.each([
    ['in seconds', '17', '17'],
    ['as a date', 'Wed, 21 Oct 2026 07:28:00 GMT', 'Wed, 21 Oct 2026 07:28:00 GMT'],
    ['that is neither', 'soon', '1'],
  ])('429 throttles, with a Retry-After %s', async (_how, sent, told) => {
    const answer = await ask({ status: 429, body: 'slow down', headers: { 'retry-after': sent } });
    expect(answer).toEqual({ outcome: 'throttled', retryAfter: told });
  });
});

describe('identity is unavailable when it answers', () => {
  const page = '<html><body>Sign in to the network</body></html>';

  test.each<[string, Reply]>([
    ['500', refusal(500, 'internal_error')],
    ['503', refusal(503, 'overloaded')],
    ['404', refusal(404, 'not_found')],
    ['200 with HTML', { status: 200, body: page }],
    ['200 with nothing', { status: 200, body: '' }],
    ['200 with another JSON', { status: 200, body: '{"success":true,"data":{"name":"Ada"}}' }],
    ['200 with JSON that is broken', { status: 200, body: '{"id":"a"' }],
    ['200 with scopes that are not a list', { status: 200, body: '{"id":"a","scopes":"*"}' }],
    ['200 with half a body', { status: 200, body: '{"id":"a","name":"Ada"}', half: 'cut' }],
    ['200 with a body over the limit', { status: 200, body: `"${'x'.repeat(17_000_000)}"` }],
    ['401 with HTML, as a proxy does', { status: 401, body: page }],
    ['401 with half a body', { ...refusal(401, 'unauthenticated'), half: 'cut' }],
    ['403 with HTML, as a firewall does', { status: 403, body: page }],
    ['a redirect', { status: 302, body: '', headers: { location: 'http://127.0.0.1:9/' } }],
  ])('%s', async (_what, reply) => {
    expect(await ask(reply)).toMatchObject({ outcome: 'unavailable' });
  });

  test('with invalid keys', async () => {
    identity.intercept('/.well-known/jwks.json', () => ({ status: 200, body: '{"keys":{}}' }));
    expect(await client.keys()).toMatchObject({ outcome: 'unavailable' });
  });
});

describe('identity is unavailable', () => {
  test.each<[string, () => Reply | Promise<Reply>]>([
    ['nothing in time', () => new Promise(() => {})],
    ['half a body and then nothing', () => ({ status: 200, body: '{"id":1}', half: 'stalled' })],
  ])('when it sends %s', async (_what, interceptor) => {
    const hasty = createIdentityClient({ url: identity.url, timeoutMs: 50 });
    identity.intercept('/api/user', interceptor);
    const answer = await hasty.principal(identity.signIn().token);
    expect(answer).toMatchObject({ outcome: 'unavailable', cause: { name: 'TimeoutError' } });
  });

  test('when it refuses the connection, and available again when it is back', async () => {
    const { token } = identity.signIn();
    await identity.stop();
    expect(await client.principal(token)).toMatchObject({ outcome: 'unavailable' });
    await identity.start();
    expect(await client.principal(token)).toMatchObject({ outcome: 'answered' });
  });
});
