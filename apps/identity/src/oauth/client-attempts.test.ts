import type { Test } from 'supertest';
import { CodeFlow, oauthRefusal } from '../testing/code-flow.ts';
import { startIdentity } from '../testing/identity.ts';

const SCOPE = 'identity.tenants.list';
const [OWN, STRANGER, THIRD] = ['203.0.113.7', '198.51.100.9', '192.0.2.5'] as const;

const start = (environment: Readonly<Record<string, string>>) =>
  startIdentity({ TRUSTED_PROXIES: '1', ...environment });

type Identity = Awaited<ReturnType<typeof start>>;

const from = (address: string, request: Test): Test => request.set('x-forwarded-for', address);

/** Asks for a system token. */
const grant = (
  { http }: Identity,
  client_id: string,
  client_secret: string,
  address: string,
): Test =>
  from(address, http.post('/api/oauth/token')).send({
    grant_type: 'client_credentials',
    client_id,
    client_secret,
  });

const refused = oauthRefusal('rate_limited');

describe('guesses at the secret of a client', () => {
  test('are limited to 10 a minute per address; after that nothing is read, and the response has Retry-After', async () => {
    const identity = await start({ RATE_LIMIT_CLIENT_FAILURES: '10' });
    const { clientId, secret } = await identity.people.application(SCOPE);
    for (let i = 0; i < 10; i += 1) {
      await grant(identity, clientId, `guess-${i}`, STRANGER).expect(401);
    }
    const answer = await grant(identity, clientId, 'guess', STRANGER);
    expect([answer.status, answer.body]).toEqual([429, refused]);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    // The right secret is a guess like any other, from there; elsewhere nobody notices.
    await grant(identity, clientId, secret, OWN).expect(200);
    for (const path of ['introspect', 'revoke']) {
      const request = identity.http.post(`/api/oauth/${path}`).auth(clientId, 'guess');
      await from(STRANGER, request).send({ token: 'x' }).expect(429);
    }
    await identity.stop();
  });

  test('do not lock out the client at the same address, which authenticated lately', async () => {
    const identity = await start({
      RATE_LIMIT_CLIENT_FAILURES: '3',
      RATE_LIMIT_CLIENT_FAILURES_ADDRESS: '3',
    });
    const { clientId, secret } = await identity.people.application(SCOPE);
    await grant(identity, clientId, secret, OWN).expect(200);
    for (let i = 0; i < 3; i += 1) await grant(identity, clientId, 'guess', OWN).expect(401);
    await grant(identity, clientId, 'guess', OWN).expect(429);
    await grant(identity, clientId, secret, OWN).expect(200);
    await identity.stop();
  });

  test('are limited in number from one address, whichever clients are tried', async () => {
    const identity = await start({ RATE_LIMIT_CLIENT_FAILURES_ADDRESS: '5' });
    for (let i = 0; i < 5; i += 1) {
      await grant(identity, `client-${i}`, 'guess', STRANGER).expect(401);
    }
    await grant(identity, 'another-client', 'guess', STRANGER).expect(429);
    await grant(identity, 'another-client', 'guess', OWN).expect(401);
    await identity.stop();
  });

  test('are limited in number for one client, from wherever they come', async () => {
    const identity = await start({ RATE_LIMIT_CLIENT_FAILURES_TOTAL: '4' });
    const { clientId, secret } = await identity.people.application(SCOPE);
    await grant(identity, clientId, secret, OWN).expect(200);
    for (const address of [STRANGER, THIRD, STRANGER, THIRD]) {
      await grant(identity, clientId, 'guess', address).expect(401);
    }
    await grant(identity, clientId, 'guess', '192.0.2.77').expect(429);
    await grant(identity, clientId, secret, OWN).expect(200);
    // Wherever it moves.
    await grant(identity, clientId, secret, THIRD).expect(200);
    await identity.stop();
  });

  test('are limited at /oauth/token and /oauth/revoke together, and a refresh that fails is none', async () => {
    const identity = await start({ RATE_LIMIT_CLIENT_FAILURES: '4' });
    const flow = new CodeFlow(identity);
    const client = await flow.client();
    const user = await identity.people.user({ tenant: await identity.people.tenant() });
    const { refresh_token } = await flow.tokens(client, await flow.signIn(user));
    const stranger = { ...client, secret: 'guess' };
    for (let i = 0; i < 20; i += 1) {
      await from(STRANGER, flow.refresh(client, 'nothing')).expect(400);
    }
    for (let i = 0; i < 4; i += 1) {
      const attempt =
        i % 2
          ? flow.refresh(stranger, refresh_token)
          : identity.http
              .post('/oauth/revoke')
              .type('form')
              .send({ client_id: client.clientId, client_secret: 'guess', token: refresh_token });
      await from(STRANGER, attempt).expect(401);
    }
    const answer = await from(STRANGER, flow.refresh(stranger, refresh_token));
    expect([answer.status, answer.body]).toEqual([429, refused]);
    await from(OWN, flow.refresh(client, refresh_token)).expect(200);
    await identity.stop();
  });

  test('once refused ask the database for nothing', async () => {
    const identity = await start({ RATE_LIMIT_CLIENT_FAILURES: '1' });
    await grant(identity, 'nobody', 'guess', STRANGER).expect(401);
    const { pool } = identity.context;
    const asked: unknown[] = [];
    const query = pool.query.bind(pool);
    pool.query = ((...args: Parameters<typeof query>) => {
      asked.push(args[0]);
      return query(...args);
    }) as typeof pool.query;
    await grant(identity, 'nobody', 'guess', STRANGER).expect(429);
    expect(asked).toEqual([]);
    pool.query = query;
    await identity.stop();
  });
});
