import { route } from '../http/route.ts';
import { CodeFlow } from '../testing/code-flow.ts';
import { startIdentity, type TestIdentity } from '../testing/identity.ts';
import { bearerOf } from '../testing/sessions.ts';
import { requireDecisions } from './first-party.ts';

/** Operations of account security and administration (decision I19). */
const ABOUT_SECURITY =
  /^\w+ \/api\/(auth\/(2fa|pin|password|logout-(all|others)|reauthenticate|email$)|user\/password|devices|sessions|me\/(applications|data|deletion|tenants)|profile\/(activity\/dispute|email|picture)|admin)|api-keys/;
/** Operations that every app needs. */
const OPEN = [
  'GET /api/auth/pin/status',
  'POST /api/auth/2fa/verify',
  'POST /api/auth/pin/verify',
  // Public operations.
  'POST /api/auth/password/forgot',
  'POST /api/auth/password/reset',
];

let identity: TestIdentity;
beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity.stop());

/** A token of a user with all permissions, issued to an app of the given kind. */
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
    'reject the token of a %s client with first_party_required, and no other operations do',
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

  test('are available to a first-party client', async () => {
    for (const address of addresses().filter((one) => ABOUT_SECURITY.test(one))) {
      // It revokes the token that the next request would use.
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
            throw new Error('A test route.');
          },
          ...more,
        }),
      },
    });

  test('does not start until the route declares which clients may use it', () => {
    expect(() => app('/api/auth/2fa/new')).toThrow('newThing');
    expect(() => app('/api/auth/2fa/new', { clients: 'any' })).not.toThrow();
    expect(() => app('/api/things')).not.toThrow();
  });
});
