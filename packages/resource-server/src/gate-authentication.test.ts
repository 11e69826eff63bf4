import type { Policy } from '@tessera/scope-matcher';
import { IdentityStandIn, refusal } from './testing/identity.ts';
import { type Probe, startProbe } from './testing/probe.ts';
import { createSigner, tampered, unsigned } from './testing/signing.ts';

const identity = new IdentityStandIn();
let probe: Probe;

beforeAll(async () => {
  await identity.start();
  probe = await startProbe({ identity });
});
afterEach(() => identity.restore());
afterAll(async () => {
  await probe.stop();
  await identity.stop();
});

const everything: Policy[] = [{ action: '*', effect: 'allow' }];
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe('401', () => {
  test.each<[string, Record<string, string>]>([
    ['without a token', {}],
    ['with another scheme', { authorization: 'Basic YTpi' }],
    ['with a scheme alone', { authorization: 'Bearer ' }],
    ['with two words for a token', { authorization: 'Bearer a b' }],
  ])('%s, and identity is not asked', async (_what, headers) => {
    const asked = identity.count('/api/user');
    const { status, body, headers: answered } = await probe.get('/contacts', headers);
    expect([status, body.error]).toEqual([401, 'unauthenticated']);
    expect(answered.get('www-authenticate')).toBe('Bearer');
    expect(identity.count('/api/user')).toBe(asked);
  });

  test.each<[string, () => string]>([
    ['expired', () => identity.signIn({ token: { expiresIn: -60 } }).token],
    ['tampered with', () => tampered(identity.signIn().token, { sub: 'eve' })],
    ['not signed', () => unsigned({ sub: 'ada' })],
    ['malformed', () => `${identity.signIn().token.split('.')[0]}._.x`],
  ])('for a token that is %s, and identity is not asked', async (_what, token) => {
    const asked = identity.count('/api/user');
    const { status, body, headers } = await probe.get('/contacts', bearer(token()));
    expect([status, body.error]).toEqual([401, 'unauthenticated']);
    expect(headers.get('www-authenticate')).toBe('Bearer error="invalid_token"');
    expect(identity.count('/api/user')).toBe(asked);
  });

  test.each<[string, () => string]>([
    [
      'revoked',
      () => {
        const person = identity.signIn();
        identity.revoke(person);
        return person.token;
      },
    ],
    ['for another audience', () => identity.signer.sign({}, { audience: 'https://other.test' })],
    ['of another kind', () => identity.signer.sign({}, { typ: 'JWT' })],
    ['signed with an unknown key', () => createSigner().sign({})],
    ['opaque and unknown', () => 'Zm9vYmFy'],
    ['not a token of any kind', () => 'a.b.c'],
  ])('for a token that is %s, because identity rejects it', async (_what, token) => {
    const asked = identity.count('/api/user');
    const { status, body } = await probe.get('/contacts', bearer(token()));
    expect([status, body.error]).toEqual([401, 'unauthenticated']);
    expect(identity.count('/api/user')).toBe(asked + 1);
  });

  test('not for an opaque token that begins like a JWT', async () => {
    const scopes = ['tenant.*.crm.contacts.*'];
    const client = identity.signIn({ type: 'client', tenants: [], scopes }, 'eyJhbGciOiJFUzI1NiJ9');
    const answer = await probe.get('/contacts', { ...client.headers, 'x-tenant': 'acme' });
    expect(answer.status).toBe(200);
  });

  test('when the token is revoked between the requests for the caller and for the policies', async () => {
    const { headers } = identity.signIn();
    identity.intercept('/api/policies', () => refusal(401, 'unauthenticated'));
    expect(await probe.get('/contacts', headers)).toMatchObject({ status: 401 });
  });
});

describe('503 identity_unavailable', () => {
  const expectUnavailable = async (path: string, retryAfter = '1') => {
    const { headers } = identity.signIn({ policies: everything });
    const answer = await probe.get(path, headers);
    expect([answer.status, answer.body.error]).toEqual([503, 'identity_unavailable']);
    expect(answer.headers.get('retry-after')).toBe(retryAfter);
  };

  test.each(['/api/user', '/api/policies'])('when %s fails', async (path) => {
    identity.intercept(path, () => refusal(500, 'internal_error'));
    await expectUnavailable('/contacts');
  });

  test.each(['/api/user', '/api/policies'])('when %s is not JSON', async (path) => {
    identity.intercept(path, () => ({ status: 200, body: '<html>' }));
    await expectUnavailable('/contacts');
  });

  test.each(['/api/user', '/api/policies'])('when %s limits the rate of requests', async (path) => {
    const headers = { 'retry-after': '42' };
    identity.intercept(path, () => ({ ...refusal(429, 'rate_limited'), headers }));
    await expectUnavailable('/contacts', '42');
  });

  test('when identity is unavailable, even for a correctly signed token', async () => {
    await identity.stop();
    await expectUnavailable('/contacts');
    await identity.start();
  });

  test('when identity is slow', async () => {
    const hasty = await startProbe({ identity, timeoutMs: 50 });
    identity.intercept('/api/user', () => new Promise(() => {}));
    const { status, body } = await hasty.get('/contacts', identity.signIn().headers);
    await hasty.stop();
    expect([status, body.error]).toEqual([503, 'identity_unavailable']);
  });
});

test("403 with identity's own code when identity says so", async () => {
  identity.intercept('/api/user', () => refusal(403, 'two_factor_required'));
  const { status, body } = await probe.get('/me', identity.signIn().headers);
  expect(status).toBe(403);
  expect(body).toEqual({
    message: 'Identity says two_factor_required.',
    error: 'two_factor_required',
  });
});
