import { route } from '../http/route.ts';
import { CodeFlow } from '../testing/code-flow.ts';
import { startIdentity, type TestIdentity } from '../testing/identity.ts';
import { bearerOf } from '../testing/sessions.ts';
import { requireDecisions } from './first-party.ts';

/** What is about the security of the account, or administration (decision I19). */
const ABOUT_SECURITY =
  /^\w+ \/api\/(auth\/(2fa|pin|password|logout-(all|others)|reauthenticate|email$)|user\/password|devices|sessions|me\/(applications|data|deletion|tenants)|profile\/(activity\/dispute|email|picture)|admin)|api-keys/;
/** What every app needs of it. */
const OPEN = [
  'GET /api/auth/pin/status',
  'POST /api/auth/2fa/verify',
  'POST /api/auth/pin/verify',
  // Without any token.
  'POST /api/auth/password/forgot',
  'POST /api/auth/password/reset',
];

let identity: TestIdentity;
beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity.stop());

/** A token of somebody who may do everything, by an app of some kind. */
const tokenOf = async (kind: 'first_party' | 'tenant' | 'third_party'): Promise<string> => {
  const flow = new CodeFlow(identity);
  const tenant = await identity.people.tenant();
  const user = await identity.people.user({ tenant, role: 'owner', data: { isSystemAdmin: true } });
  const client = await flow.client({
    isFirstParty: kind === 'first_party',
    ...(kind === 'tenant' && { tenantId: tenant.id }),
    ...(kind === 'third_party' && { allowedScopes: ['*'] }),
  });
  const scope = kind === 'third_party' ? '*' : 'api';
  return (await flow.tokens(client, await flow.signIn(user), { scope })).access_token;
};

const addresses = () =>
  Object.entries(identity.document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );

const errorOf = async (address: string, token: string): Promise<string | undefined> => {
  const [method = '', path = ''] = address.split(' ');
  const id = '01980a5d-ac96-774b-bcce-b302099a8057';
  const answer = await fetch(identity.url + path.replaceAll(/\{\w+\}/g, id), {
    method,
    headers: bearerOf(token),
  });
  if (answer.ok) return undefined;
  const { error } = (await answer.json()) as { error?: string };
  return error;
};

describe('account security and administration', () => {
  test.each([['tenant'], ['third_party']] as const)(
    'refuse the token of a %s client with first_party_required, and nothing else does',
    async (kind) => {
      const token = await tokenOf(kind);
      const refused: string[] = [];
      const closed = addresses().filter((one) => ABOUT_SECURITY.test(one));
      const expected = closed.filter((one) => !OPEN.includes(one));
      expect(expected.length).toBeGreaterThan(20);
      for (const address of addresses()) {
        if (/ \/(oauth|api\/oauth|livez|readyz|\.well-known)/.test(address)) continue;
        if (address === 'POST /api/auth/logout') continue;
        if ((await errorOf(address, token)) === 'first_party_required') refused.push(address);
      }
      expect(refused.toSorted()).toEqual(expected.toSorted());
    },
  );

  test('are open to a first-party client', async () => {
    for (const address of addresses().filter((one) => ABOUT_SECURITY.test(one))) {
      // It ends what the next one would be asked with.
      const token = await tokenOf('first_party');
      expect([address, await errorOf(address, token)]).not.toEqual([
        address,
        'first_party_required',
      ]);
    }
  });
});

describe('an app with a route of account security', () => {
  const app = (path: '/api/auth/2fa/new' | '/api/things', more: object = {}) =>
    requireDecisions({
      Things: {
        newThing: route({
          method: 'post',
          path,
          permission: 'authenticated',
          summary: 'A thing',
          responses: {},
          handler: () => {
            throw new Error('Nobody asks for it.');
          },
          ...more,
        }),
      },
    });

  test('does not start before the route has decided whose clients may use it', () => {
    expect(() => app('/api/auth/2fa/new')).toThrow('newThing');
    expect(() => app('/api/auth/2fa/new', { clients: 'any' })).not.toThrow();
    expect(() => app('/api/things')).not.toThrow();
  });
});
