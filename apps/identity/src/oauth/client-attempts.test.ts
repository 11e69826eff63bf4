import type { Test } from 'supertest';
import { CodeFlow, oauthRefusal } from '../testing/code-flow.ts';
import { startIdentity } from '../testing/identity.ts';

const SCOPE = 'identity.tenants.list';
const [OWN, STRANGER, THIRD] = ['203.0.113.7', '198.51.100.9', '192.0.2.5'] as const;

const start = (environment: Readonly<Record<string, string>>) =>
  startIdentity({ TRUSTED_PROXIES: '1', ...environment });

type Identity = Awaited<ReturnType<typeof start>>;

const from = (address: string, request: Test): Test => request.set('x-forwarded-for', address);

/** Requests a system token. */
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

describe('failed authentications of a client', () => {
  test('are limited to 10 a minute per address; further attempts get Retry-After without reading the database', async () => {
    const identity = await start({ RATE_LIMIT_CLIENT_FAILURES: '10' });
    const { clientId, secret } = await identity.people.application(SCOPE);
    for (let i = 0; i < 10; i += 1) {
      await grant(identity, clientId, `guess-${i}`, STRANGER).expect(401);
    }
    const answer = await grant(identity, clientId, 'guess', STRANGER);
    expect([answer.status, answer.body]).toEqual([429, refused]);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    // The correct secret is rejected from that address too, but accepted from others.
    await grant(identity, clientId, secret, OWN).expect(200);
    for (const path of ['introspect', 'revoke']) {
      const request = identity.http.post(`/api/oauth/${path}`).auth(clientId, 'guess');
      await from(STRANGER, request).send({ token: 'x' }).expect(429);
    }
    await identity.stop();
  });

  test('do not lock out a client at the same address that authenticated recently', async () => {
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

  test('are limited per address, for all clients together', async () => {
    const identity = await start({ RATE_LIMIT_CLIENT_FAILURES_ADDRESS: '5' });
    for (let i = 0; i < 5; i += 1) {
      await grant(identity, `client-${i}`, 'guess', STRANGER).expect(401);
    }
    await grant(identity, 'another-client', 'guess', STRANGER).expect(429);
    await grant(identity, 'another-client', 'guess', OWN).expect(401);
    await identity.stop();
  });

  test('are limited per client, from all addresses together', async () => {
    const identity = await start({ RATE_LIMIT_CLIENT_FAILURES_TOTAL: '4' });
    const { clientId, secret } = await identity.people.application(SCOPE);
    await grant(identity, clientId, secret, OWN).expect(200);
    for (const address of [STRANGER, THIRD, STRANGER, THIRD]) {
      await grant(identity, clientId, 'guess', address).expect(401);
    }
    await grant(identity, clientId, 'guess', '192.0.2.77').expect(429);
    await grant(identity, clientId, secret, OWN).expect(200);
    // From any address.
    await grant(identity, clientId, secret, THIRD).expect(200);
    await identity.stop();
  });

  test('are limited at /oauth/token and /oauth/revoke together, and a failed refresh does not count', async () => {
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

  test('cause no database queries once they are rejected', async () => {
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
