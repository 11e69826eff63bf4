import { parsePrincipal } from '@tessera/contracts';
import { startAuthorization } from '../../testing/authorization.ts';
import { commandsOf } from '../../testing/commands.ts';
import { bearerOf } from '../../testing/sessions.ts';
import { claimsOf } from '../../testing/tokens.ts';

const { identity, flow } = await startAuthorization();
afterAll(() => identity.stop());

const CONTACTS = 'tenant.*.crm.contacts.view';
const tenant = await identity.people.tenant();
const user = await identity.people.user({ tenant });
const cookie = await flow.signIn(user);
const resourceServer = await commandsOf(identity)(
  'create-system-application',
  'reports',
  CONTACTS,
  '--name',
  'Reports',
  '--resource-server',
);

/** What a client learns of a user from its tokens. */
const learned = async (options: Parameters<typeof flow.client>[0], scope: string) => {
  const tokens = await flow.tokens(await flow.client(options), cookie, { scope });
  const { body } = await identity.http
    .get('/api/user')
    .set(bearerOf(tokens.access_token))
    .expect(200);
  const { client_id, client_secret } = resourceServer;
  const introspection = await identity.http
    .post('/api/oauth/introspect')
    .send({ token: tokens.access_token, client_id, client_secret })
    .expect(200);
  return {
    principal: body.data,
    introspection: introspection.body,
    idToken: claimsOf(tokens.id_token ?? ''),
  };
};

const thirdParty = { isTrusted: true, isFirstParty: false, allowedScopes: [CONTACTS] };
const name = `${user.firstName} ${user.lastName}`;
const { email } = user;

describe('a third-party client', () => {
  test.each([
    ['neither name nor address', CONTACTS, null, null],
    ['neither name nor address', `openid ${CONTACTS}`, null, null],
    ['the address', `openid email ${CONTACTS}`, email, null],
    ['the name', `openid profile ${CONTACTS}`, null, name],
    ['both', `openid email profile ${CONTACTS}`, email, name],
  ])('learns %s with the scopes %s', async (_, scope, address, called) => {
    const { principal, introspection, idToken } = await learned(thirdParty, scope);
    expect([principal.email, principal.name]).toEqual([address, called]);
    expect(introspection).toMatchObject({ active: true, sub: user.id });
    expect(introspection.username ?? null).toBe(address);
    const { email: told = null, name: toldName = null } = idToken;
    expect([told, toldName]).toEqual([address, called]);
    expect(principal.tenants.map(({ id }: { id: string }) => id)).toEqual([tenant.id]);
    expect(parsePrincipal({ data: principal })).toMatchObject({ id: user.id, name: called });
  });

  test('learns neither after it has renewed its token without these scopes', async () => {
    const client = await flow.client(thirdParty);
    const scope = `openid email profile ${CONTACTS}`;
    const tokens = await flow.tokens(client, cookie, { scope });
    const narrow = await flow
      .token(client, {
        grant_type: 'refresh_token',
        refresh_token: tokens.refresh_token,
        scope: CONTACTS,
      })
      .expect(200);
    const { body } = await identity.http
      .get('/api/user')
      .set(bearerOf(narrow.body.access_token))
      .expect(200);
    expect(body.data).toMatchObject({ email: null, name: null, scopes: [CONTACTS] });
  });
});

test.each([
  ['first-party client', {}, 'api'],
  ["tenant's client", { isFirstParty: false, tenantId: tenant.id }, CONTACTS],
])('a %s learns name and address', async (_, options, scope) => {
  const { principal, introspection } = await learned(options, scope);
  expect(principal).toMatchObject({ email, name });
  expect(introspection.username).toBe(email);
});

test('the consent page says what the application learns beside the requested scopes', async () => {
  const client = await flow.client({ isTrusted: false, allowedScopes: [CONTACTS] });
  const pageFor = async (scope: string): Promise<string> => {
    const { headers } = await flow.authorize(flow.query(client, 'c'.repeat(43), { scope }), cookie);
    const { pathname } = new URL(headers.location ?? '');
    return (await identity.http.get(pathname).set('cookie', cookie).expect(200)).text;
  };
  const told = `It will also see the ID of your account, and the name and plan of ${tenant.name}.`;
  const plain = await pageFor(`openid ${CONTACTS}`);
  expect(plain).toContain(told);
  expect(plain).not.toMatch(/See your (name|email)/);
  const whole = await pageFor(`openid profile email ${CONTACTS}`);
  expect(whole).toContain('See your name, picture, language, and time zone');
  expect(whole).toContain('See your email address');
  expect(await pageFor('openid profile')).not.toContain(told);
});
