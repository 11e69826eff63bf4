import { randomBytes } from 'node:crypto';
import type { User } from '../generated/prisma/client.ts';
import { startIdentity, type TestIdentity } from '../testing/identity.ts';
import { bearerOf, signedIn } from '../testing/sessions.ts';
import { claimsOf, issue } from '../testing/tokens.ts';
import type { Restriction } from '../tokens/caller.ts';

/** The only routes that decisions I2, I3, I6 and I21 allow before the sign-in is complete. */
const admitted: Readonly<Record<Restriction, readonly string[]>> = {
  two_factor_required: ['POST /api/auth/2fa/verify'],
  pin_required: [
    'POST /api/auth/pin/verify',
    'GET /api/auth/pin/status',
    'POST /api/auth/logout',
    'GET /api/me/security',
  ],
  email_verification_required: [
    'POST /api/auth/2fa/verify',
    'POST /api/auth/pin/verify',
    'POST /api/auth/refresh',
    'POST /api/auth/logout',
    'PUT /api/auth/email',
    'GET /api/me',
  ],
  password_change_required: [
    'POST /api/auth/password/change',
    'PUT /api/user/password',
    'POST /api/auth/logout',
    'GET /api/me',
    'GET /api/me/security',
  ],
};
/** A pending token cannot be renewed: 401 (decision I4). */
const RENEWAL = 'POST /api/auth/refresh';

let identity: TestIdentity;
let guarded: readonly string[];
let everything: readonly string[];
beforeAll(async () => {
  identity = await startIdentity();
  const operations = Object.entries(identity.document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const,
    ),
  );
  everything = operations.map(([address]) => address);
  guarded = operations
    .filter(([, operation]) => operation['x-permissions'] !== 'public')
    .map(([address]) => address);
});
afterAll(() => identity.stop());

const database = () => identity.context.database;

/** A token of a user with all permissions and the given restriction. */
const tokenOf: Readonly<Record<Restriction, (user: User) => Promise<string>>> = {
  two_factor_required: (user) =>
    issue(identity, { userId: user.id, tenantId: user.tenantId, use: 'two_factor' }),
  async pin_required(user) {
    const token = await signedIn(identity, user);
    const where = { id: claimsOf(token).sid };
    await database().session.update({ where, data: { pinPending: true } });
    return token;
  },
  async email_verification_required(user) {
    const token = await signedIn(identity, user);
    await database().user.update({ where: { id: user.id }, data: { emailVerifiedAt: null } });
    return token;
  },
  async password_change_required(user) {
    const token = await signedIn(identity, user);
    await database().user.update({ where: { id: user.id }, data: { forcePasswordChange: true } });
    return token;
  },
};

const call = async (address: string, token: string) => {
  const [method = '', path = ''] = address.split(' ');
  const { id } = await identity.people.tenant();
  return fetch(identity.url + path.replaceAll(/\{\w+\}/g, id), {
    method,
    headers: { ...bearerOf(token), 'user-agent': randomBytes(8).toString('hex') },
  });
};

describe.each(Object.keys(admitted) as Restriction[])('%s', (restriction) => {
  test('is the response of every route except those that lift the restriction or are harmless', async () => {
    const tenant = await identity.people.tenant();
    const answers: Record<string, string> = {};
    for (const address of guarded) {
      const user = await identity.people.user({ tenant, actions: ['*'] });
      const answer = await call(address, await tokenOf[restriction](user));
      const { error = '' } = (await answer.json().catch(() => ({}))) as { error?: string };
      answers[address] = error === restriction ? `${answer.status} ${error}` : 'admitted';
      if (address === RENEWAL && answer.status === 401) answers[address] = '401';
    }
    const expected = guarded.map((address) => {
      if (admitted[restriction].includes(address)) return [address, 'admitted'];
      const isPending = address === RENEWAL && restriction === 'two_factor_required';
      return [address, isPending ? '401' : `403 ${restriction}`];
    });
    expect(answers).toEqual(Object.fromEntries(expected));
  });

  test('is allowed only on existing routes', () => {
    expect(everything).toEqual(expect.arrayContaining([...admitted[restriction]]));
  });
});
