import { until } from '@tessera/local-stack';
import { startHousekeeping } from '../../background/housekeeping.ts';
import { cookiesOf } from '../../testing/cookies.ts';
import { collide, renewalOf } from '../../testing/locks.ts';
import { startRegistration } from '../../testing/registration.ts';
import { MAX_CLAIMS } from './claims.ts';

const PASSWORD = 'Another-horse-8-battery';

const { identity, mailbox } = await startRegistration();
let unique = 0;

const database = () => identity.context.database;
const claimsTo = (email: string) => database().user.count({ where: { email, isActive: true } });
const address = (): string => {
  unique += 1;
  return `wanted-${unique}@example.test`;
};

/** Registers in a separate browser, or in that of the cookie, which it returns; waits until the account is stored. */
const register = async (email: string, browser = '') => {
  unique += 1;
  const firstName = `Number ${unique}`;
  const form = {
    first_name: firstName,
    last_name: 'Neu',
    email,
    password: PASSWORD,
    password_confirmation: PASSWORD,
    tenant_name: 'Neu',
  };
  const answer = await identity.http
    .post('/api/auth/register')
    .set(browser ? { cookie: browser } : {})
    .send(form)
    .expect(202);
  await until(async () => (await database().user.count({ where: { firstName } })) === 1);
  return Object.entries(cookiesOf(answer))
    .map(([name, value]) => `${name}=${value}`)
    .join('; ');
};
const linkFor = async (email: string, kind = 'email_verification') =>
  (await mailbox.next(kind, email)).link.searchParams.get('token') ?? '';
const verify = (token: string, cookie: string) =>
  identity.http.post('/api/auth/email/verify').set({ cookie }).send({ token });

/** Inserts unconfirmed accounts with an address, each with a registration and a session. */
const claim = (email: string, count: number) => database().$executeRaw`
  WITH claims AS (
    INSERT INTO identity.users (id, email, first_name, last_name, updated_at)
    SELECT gen_random_uuid(), ${email}, 'Eve', 'Many', now() FROM generate_series(1, ${count}::int)
    RETURNING id),
  registered AS (
    INSERT INTO identity.registrations (user_id, cookie_hash, tenant_name, expires_at)
    SELECT id, sha256(id::text::bytea), 'Eve', now() + interval '7 days' FROM claims)
  INSERT INTO identity.sessions (id, user_id, secret_hash, expires_at)
  SELECT gen_random_uuid(), id, sha256(id::text::bytea), now() + interval '1 day' FROM claims`;

describe('thousands of claims to an address', () => {
  test('do not prevent its owner from confirming it', async () => {
    const email = address();
    const cookie = await register(email);
    const token = await linkFor(email);
    await claim(email, 2000);
    await verify(token, cookie).expect(200);
    expect(await claimsTo(email)).toBe(1);
    const { pool, logger } = identity.context;
    const housekeeping = startHousekeeping({ pool, logger, retention: identity.context.config });
    // The service's own housekeeping may be running.
    await until(async () => {
      await housekeeping.sweep();
      return (await database().user.count({ where: { email } })) === 1;
    });
    await housekeeping.stop();
  });

  test('nor from resetting the password of one of them', async () => {
    const email = address();
    await claim(email, 2000);
    await identity.http.post('/api/auth/password/forgot').send({ email }).expect(200);
    const token = await linkFor(email, 'password_reset');
    const chosen = { password: PASSWORD, password_confirmation: PASSWORD };
    await identity.http
      .post('/api/auth/password/reset')
      .send({ token, email, ...chosen })
      .expect(200);
    expect(await claimsTo(email)).toBe(1);
  });
});

describe('registering with an address again and again', () => {
  test('leaves a limited number of claims, and the link that was mailed first still confirms', async () => {
    const email = address();
    const cookie = await register(email);
    const token = await linkFor(email);
    for (let registered = 1; registered < 2 * MAX_CLAIMS; registered += 1) await register(email);
    expect(await claimsTo(email)).toBe(MAX_CLAIMS);
    await verify(token, cookie).expect(200);
    expect(await claimsTo(email)).toBe(1);
  });

  test('ends the same claims whether or not another account has confirmed the address', async () => {
    const keptOf = async (email: string) => {
      const before = unique;
      for (let registered = 1; registered <= MAX_CLAIMS + 3; registered += 1) {
        await register(email);
        // Five mails are sent: links, or notices to the account that has confirmed the address.
        if (registered <= 5)
          await until(async () => (await mailbox.to(email)).length >= registered);
        if (registered !== 7) continue;
        await identity.http.post('/api/auth/password/forgot').send({ email }).expect(200);
        await mailbox.next('password_reset', email);
      }
      const where = { email, emailVerifiedAt: null };
      const kept = await database().user.findMany({ where, orderBy: { id: 'asc' } });
      return kept.map(({ firstName }) => Number(firstName.replace('Number ', '')) - before);
    };
    const taken = address();
    await identity.people.user({ data: { email: taken } });
    const kept = [1, 2, 3, 4, 5, 7, 10, 11, 12, 13];
    expect(await keptOf(address())).toEqual(kept);
    expect(await keptOf(taken)).toEqual(kept);
  });

  test('deletes no member of a tenant, and no account with another address', async () => {
    const email = address();
    const tenant = await identity.people.tenant();
    const data = { email, emailVerifiedAt: null };
    const member = await identity.people.user({ tenant, data });
    const other = await identity.people.user({ data: { emailVerifiedAt: null } });
    for (let registered = 0; registered < MAX_CLAIMS + 2; registered += 1) await register(email);
    expect(await claimsTo(email)).toBe(MAX_CLAIMS + 1);
    const ids = [member.id, other.id];
    expect(await database().user.count({ where: { id: { in: ids } } })).toBe(2);
  });

  test('in the same browser causes no deadlock with a renewal of a token', async () => {
    const email = address();
    const cookie = await register(email);
    await identity.http.post('/api/auth/login').send({ email, password: PASSWORD }).expect(200);
    const { id } = await database().user.findFirstOrThrow({ where: { email } });
    await collide(database(), () => register(email, cookie), renewalOf(id));
    expect(await claimsTo(email)).toBe(1);
    expect(await database().user.count({ where: { id } })).toBe(0);
  });

  test('ends those that were there before', async () => {
    const email = address();
    await claim(email, 1000);
    await register(email);
    expect(await claimsTo(email)).toBe(MAX_CLAIMS);
  });

  test('is limited for those who change their address to it as well', async () => {
    const [email, own] = [address(), address()];
    await claim(email, MAX_CLAIMS + 5);
    await register(own);
    const { body } = await identity.http
      .post('/api/auth/login')
      .send({ email: own, password: PASSWORD })
      .expect(200);
    const bearer = { authorization: `Bearer ${body.data.token}` };
    await identity.http.put('/api/auth/email').set(bearer).send({ email }).expect(202);
    expect(await claimsTo(email)).toBe(MAX_CLAIMS);
    const me = await identity.http.get('/api/me').set(bearer).expect(200);
    expect(me.body.data.email).toBe(email);
  });
});
