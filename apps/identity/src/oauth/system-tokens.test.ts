import { createHash } from 'node:crypto';
import { eventKey, parseEvent } from '@tessera/contracts';
import { oauthRefusal } from '../testing/code-flow.ts';
import { startIdentity, type TestIdentity } from '../testing/identity.ts';

interface Credentials {
  readonly client_id: string;
  readonly client_secret: string;
}

/** A new system application with these scopes. */
const makeApplication = async (scope: string): Promise<Credentials> => {
  const { clientId, secret } = await identity.people.application(scope);
  return { client_id: clientId, client_secret: secret };
};

let identity: TestIdentity;
let application: Credentials;
let other: Credentials;
beforeAll(async () => {
  identity = await startIdentity();
  application = await makeApplication('identity.tenants.* tenant.*.crm.contacts.*');
  other = await makeApplication('*');
});
afterAll(() => identity.stop());

const post = (path: string, body: object) =>
  identity.http.post(`/api/oauth/${path}`).type('form').send(body);
const grant = (body: object = {}) =>
  post('token', { grant_type: 'client_credentials', ...application, ...body });
const issue = async (body: object = {}): Promise<string> => {
  const answer = await grant(body);
  expect(answer.status).toBe(200);
  return answer.body.access_token;
};
const introspect = async (token: string, as = application): Promise<object> => {
  const answer = await post('introspect', { token, ...as });
  expect(answer.status).toBe(200);
  return answer.body;
};

describe('a grant of client credentials', () => {
  test('returns an opaque token of 48 bytes that is valid for an hour', async () => {
    const answer = await grant();
    expect(answer.status).toBe(200);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.body).toEqual({
      access_token: expect.stringMatching(/^[\w-]{64}$/),
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'identity.tenants.* tenant.*.crm.contacts.*',
    });
  });

  test('accepts JSON as well as a form', async () => {
    const answer = await identity.http
      .post('/api/oauth/token')
      .send({ grant_type: 'client_credentials', ...application });
    expect(answer.status).toBe(200);
    expect(await introspect(answer.body.access_token)).toMatchObject({ active: true });
  });

  test('accepts the credentials with HTTP Basic', async () => {
    const { client_id, client_secret } = application;
    const answer = await identity.http
      .post('/api/oauth/token')
      .auth(client_id, client_secret)
      .type('form')
      .send({ grant_type: 'client_credentials' });
    expect(answer.status).toBe(200);
  });

  test('ignores unknown parameters', async () => {
    const extra = { resource: 'urn:x', audience: 'y', client_assertion: 'z', __proto__: 'p' };
    expect((await grant(extra)).status).toBe(200);
  });

  test('returns a different token to each of a hundred concurrent requests', async () => {
    const tokens = await Promise.all(Array.from({ length: 100 }, () => issue()));
    expect(new Set(tokens).size).toBe(100);
    const answers = await Promise.all(tokens.map((token) => introspect(token)));
    expect(answers.every((answer) => 'exp' in answer)).toBe(true);
  });

  test('returns the requested scopes that the application has', async () => {
    const scope = 'identity.tenants.list tenant.acme.crm.contacts.*';
    expect((await grant({ scope })).body.scope).toBe(scope);
  });

  test.each(['identity.users.list', '*', 'identity.*', 'tenant.*.crm.*.list', 'a..b', 'ta*.x'])(
    'rejects the scope %s, which exceeds those of the application',
    async (scope) => {
      const answer = await grant({ scope: `identity.tenants.list ${scope}` });
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ error: 'invalid_scope', success: false });
      expect(answer.body.message).toContain(scope);
      expect(answer.body.error_description).toBe(answer.body.message);
    },
  );

  test('rejects every other grant type', async () => {
    for (const grant_type of ['password', 'authorization_code', 'refresh_token', 'implicit']) {
      const answer = await grant({ grant_type });
      expect([answer.status, answer.body.error]).toEqual([400, 'unsupported_grant_type']);
    }
  });
});

describe('introspection', () => {
  test('describes a token of the application itself', async () => {
    const token = await issue({ scope: 'identity.tenants.list' });
    const hourFromNow = Math.floor(Date.now() / 1000) + 3600;
    const answer = (await introspect(token)) as { exp: number };
    expect(answer).toEqual({
      active: true,
      client_id: application.client_id,
      exp: expect.any(Number),
      scope: 'identity.tenants.list',
    });
    expect(Math.abs(answer.exp - hourFromNow)).toBeLessThanOrEqual(5);
  });

  test('reports tokens of others, unknown tokens and signed tokens as inactive', async () => {
    const inactive = { active: false };
    expect(await introspect(await issue(), other)).toEqual(inactive);
    expect(await introspect('nothing')).toEqual(inactive);
    expect(await introspect('eyJhbGciOiJFUzI1NiJ9.e30.AAAA')).toEqual(inactive);
  });

  test('an expired token is not active', async () => {
    const token = await issue();
    const hash = createHash('sha256').update(token).digest('hex');
    await identity.context.pool.query(
      `UPDATE identity.oauth_artifacts SET expires_at = now(),
       payload = jsonb_set(payload, '{exp}', to_jsonb(extract(epoch FROM now())::bigint - 1))
       WHERE encode(id_hash, 'hex') = $1`,
      [hash],
    );
    expect(await introspect(token)).toEqual({ active: false });
  });
});

describe('revocation', () => {
  test('revokes a token immediately and publishes that', async () => {
    const token = await issue();
    const answer = await post('revoke', { token, ...application });
    expect([answer.status, answer.body]).toEqual([200, { success: true }]);
    expect(await introspect(token)).toEqual({ active: false });
    const last = await identity.context.database.outboxEvent.findFirstOrThrow({
      orderBy: { id: 'desc' },
    });
    const parsed = parseEvent(last.topic, JSON.stringify(last.payload));
    expect(parsed).toMatchObject({
      ok: true,
      event: {
        type: 'identity.token.revoked',
        data: {
          token_id: createHash('sha256').update(token).digest('hex'),
          client_id: application.client_id,
          reason: 'revoked',
        },
      },
    });
    expect(parsed.ok && eventKey(parsed.event)).toBe(last.key);
  });

  test('refuses the live token of another client, and tells the caller', async () => {
    const token = await issue();
    const answer = await post('revoke', { token, ...other });
    expect([answer.status, answer.body]).toEqual([400, oauthRefusal('unauthorized_client')]);
    expect(await introspect(token)).toMatchObject({ active: true });
    await post('revoke', { token, ...application }).expect(200);
    await post('revoke', { token, ...other }).expect(200);
  });

  test('of something that is not a token succeeds and publishes nothing', async () => {
    const before = await identity.context.database.outboxEvent.count();
    for (const token of ['nothing', 'eyJhbGciOiJFUzI1NiJ9.e30.AAAA']) {
      expect((await post('revoke', { token, ...application })).body).toEqual({ success: true });
    }
    expect(await identity.context.database.outboxEvent.count()).toBe(before);
  });
});
