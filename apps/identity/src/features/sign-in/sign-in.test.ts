import { hash, randomBytes } from 'node:crypto';
import bcrypt from 'bcrypt';
import type { Tenant, User } from '../../generated/prisma/client.ts';
import { cookieValueOf, setCookieOf } from '../../testing/cookies.ts';
import { Forms } from '../../testing/forms.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import { PASSWORD } from '../../testing/population.ts';
import { bearerOf } from '../../testing/sessions.ts';
import { claimsOf, present } from '../../testing/tokens.ts';

let identity: TestIdentity;
let tenant: Tenant;
let user: User;
beforeAll(async () => {
  identity = await startIdentity();
  tenant = await identity.people.tenant();
  user = await identity.people.user({ tenant });
});
afterAll(() => identity.stop());

const login = (body: object) =>
  identity.http.post('/api/auth/login').set('user-agent', 'jest').send(body);
const SESSION = '__Host-session';

describe('signing in', () => {
  test('returns a token, a user and the lifetimes', async () => {
    const answer = await login({ email: user.email, password: PASSWORD });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      success: true,
      data: {
        token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
        expires_in: 3600,
        refresh_expires_in: 30 * 86_400,
        user: {
          id: user.id,
          email: user.email,
          name: 'Ada Tester',
          first_name: 'Ada',
          last_name: 'Tester',
        },
        requires_2fa: false,
        requires_pin: false,
      },
    });
    const { exp = 0, iat = 0, ...claims } = claimsOf(answer.body.data.token);
    expect(exp - iat).toBe(3600);
    expect(claims).toMatchObject({ sub: user.id, tenant_id: tenant.id, token_use: 'login' });
  });

  test('accepts the address in any case', async () => {
    const answer = await login({ email: user.email?.toUpperCase(), password: PASSWORD });
    expect(answer.status).toBe(200);
  });

  test('accepts the address in each of its spellings, with white space around it, also on the page', async () => {
    const data = { email: 'jos\u00e9.1@b\u00fccher.test' };
    const person = await identity.people.user({ data });
    const form = new Forms(identity);
    for (const email of [
      'jos\u00e9.1@b\u00fccher.test',
      'JOSE\u0301.1@BU\u0308CHER.TEST',
      'jos\u00e9.1@xn--bcher-kva.test',
      'Jos\u00e9.1@XN--BCHER-KVA.test',
      ' jos\u00e9.1@b\u00fccher.test',
      '\tjos\u00e9.1@xn--bcher-kva.test\u00a0\r\n',
    ]) {
      const answer = await login({ email, password: PASSWORD });
      expect([email, answer.status]).toEqual([email, 200]);
      expect(answer.body.data.user).toMatchObject({ id: person.id, email: data.email });
      await form.signIn(email);
    }
  });

  test('sets a session cookie, of which only a digest is stored', async () => {
    const first = await login({ email: user.email, password: PASSWORD });
    const second = await login({ email: user.email, password: PASSWORD });
    expect(setCookieOf(first, SESSION)).toMatch(
      /^__Host-session=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    const secret = cookieValueOf(first, SESSION) ?? '';
    expect(cookieValueOf(second, SESSION)).not.toBe(secret);
    const secretHash = new Uint8Array(hash('sha256', secret, 'buffer'));
    const session = await identity.context.database.session.findUniqueOrThrow({
      where: { secretHash },
      include: { tokens: true },
    });
    expect(session).toMatchObject({ userId: user.id, userAgent: 'jest', endedAt: null });
    expect(session.tokens).toHaveLength(1);
  });

  test('with `remember` the cookie lasts 30 days', async () => {
    const answer = await login({ email: user.email, password: PASSWORD, remember: true });
    expect(setCookieOf(answer, SESSION)).toMatch(/; Max-Age=2592000;/);
  });

  test('invalidates the previous cookie of the browser; its tokens remain valid', async () => {
    const credentials = { email: user.email, password: PASSWORD };
    const before = await login(credentials);
    const secret = cookieValueOf(before, SESSION) ?? '';
    const cookie = `${SESSION}=${secret}`;
    const answer = await login(credentials).set('cookie', cookie);
    expect(answer.status).toBe(200);
    const secretHash = new Uint8Array(hash('sha256', secret, 'buffer'));
    const { database } = identity.context;
    expect(await database.session.findUnique({ where: { secretHash } })).toBeNull();
    for (const { body } of [before, answer]) {
      expect((await present(identity.http, body.data.token)).status).toBe(200);
    }
  });

  test('the cookie travels without TLS in local mode only', async () => {
    const local = await startIdentity({ APP_ENV: 'local' });
    try {
      const { email } = await local.people.user();
      const answer = await local.http.post('/api/auth/login').send({ email, password: PASSWORD });
      expect(setCookieOf(answer, 'session')).toMatch(
        /^session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/,
      );
    } finally {
      await local.stop();
    }
  });

  test('is recorded with user, time and address', async () => {
    const someone = await identity.people.user({ tenant });
    await login({ email: someone.email, password: PASSWORD });
    const { database } = identity.context;
    const [entry] = await database.activityEntry.findMany({ where: { userId: someone.id } });
    expect(entry).toMatchObject({
      action: 'login',
      tenantId: tenant.id,
      ipAddress: '127.0.0.1',
      userAgent: 'jest',
    });
    const { lastLoginAt } = await database.user.findUniqueOrThrow({ where: { id: someone.id } });
    expect(Date.now() - +(lastLoginAt ?? 0)).toBeLessThan(10_000);
  });

  test('is recorded with a truncated user agent, and without a forged address', async () => {
    const proxied = await startIdentity({ TRUSTED_PROXIES: '1' });
    try {
      const someone = await proxied.people.user();
      const madeUp = randomBytes(5000).toString('base64url');
      const { status, body } = await proxied.http
        .post('/api/auth/login')
        .set({ 'x-forwarded-for': madeUp, 'user-agent': madeUp })
        .send({ email: someone.email, password: PASSWORD });
      expect(status).toBe(200);
      const bearer = bearerOf(body.data.token);
      const devices = await proxied.http.get('/api/devices').set(bearer);
      expect(devices.body.data[0].ip_address).toBe('127.0.0.1');
      const where = { userId: someone.id };
      const entry = await proxied.context.database.activityEntry.findFirstOrThrow({ where });
      expect([entry.ipAddress, entry.userAgent]).toEqual(['127.0.0.1', madeUp.slice(0, 500)]);
    } finally {
      await proxied.stop();
    }
  });

  test('with a session shorter than a token returns a token with the lifetime of the session', async () => {
    const short = await startIdentity({ SESSION_TTL: '600' });
    try {
      const someone = await short.people.user();
      const { body } = await short.http
        .post('/api/auth/login')
        .send({ email: someone.email, password: PASSWORD });
      const { exp = 0, iat = 0 } = claimsOf(body.data.token);
      const { expires_in, refresh_expires_in } = body.data;
      expect([expires_in, refresh_expires_in, exp - iat]).toEqual([600, 600, 600]);
    } finally {
      await short.stop();
    }
  });

  test('starts in the last tenant, else in the first joined one, else in none', async () => {
    const [first, second] = [await identity.people.tenant(), await identity.people.tenant()];
    const someone = await identity.people.user({ tenant: first });
    await identity.people.join(someone, second, await identity.people.role(second));
    const startsIn = async () => {
      const { body } = await login({ email: someone.email, password: PASSWORD });
      return claimsOf(body.data.token).tenant_id;
    };
    const { database } = identity.context;
    const where = { id: someone.id };
    await database.user.update({ where, data: { tenantId: second.id } });
    expect(await startsIn()).toBe(second.id);
    await database.membership.deleteMany({ where: { tenantId: second.id } });
    expect(await startsIn()).toBe(first.id);
    await database.membership.deleteMany({ where: { userId: someone.id } });
    expect(await startsIn()).toBeUndefined();
  });

  test('upgrades an outdated hash once', async () => {
    const weaker = await startIdentity({ BCRYPT_COST: '5' });
    try {
      const { database } = weaker.context;
      const { id, email } = await weaker.people.user();
      await database.user.update({
        where: { id },
        data: { passwordHash: await bcrypt.hash(PASSWORD, 4) },
      });
      const hashNow = async () =>
        (await database.user.findUniqueOrThrow({ where: { id } })).passwordHash;
      const signIn = () => weaker.http.post('/api/auth/login').send({ email, password: PASSWORD });
      expect((await signIn()).status).toBe(200);
      const upgraded = (await hashNow()) ?? '';
      expect(bcrypt.getRounds(upgraded)).toBe(5);
      expect((await signIn()).status).toBe(200);
      expect(await hashNow()).toBe(upgraded);
    } finally {
      await weaker.stop();
    }
  });
});
