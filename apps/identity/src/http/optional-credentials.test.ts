import { randomUUID } from 'node:crypto';
import { CodeFlow, pkce } from '../testing/code-flow.ts';
import { cookiesOf } from '../testing/cookies.ts';
import { PASSWORD } from '../testing/population.ts';
import { startRegistration } from '../testing/registration.ts';

const { identity, mailbox } = await startRegistration();
const { document, http, people } = identity;
const flow = new CodeFlow(identity);

const operation = (id: string) => {
  const all = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const found = all.find(({ operationId }) => operationId === id);
  if (!found) throw new Error(`${id} is not documented.`);
  return found;
};
const schemeOf = (name: string) => document.components.securitySchemes?.[name];
/** A cookie under the name that the document declares. */
const cookieFor = (scheme: string, value: string): string => `${schemeOf(scheme)?.name}=${value}`;

describe('the credentials that the document declares as optional', () => {
  test.each([
    ['register', ['bearer']],
    ['acceptInvitation', ['bearer']],
    ['resendVerification', ['bearer', 'confirmation']],
    ['getAddressConfirmation', ['bearer', 'confirmation']],
    ['verifyEmail', ['bearer', 'confirmation']],
    ['authorize', ['session']],
    ['resumeAuthorization', ['session']],
    ['issueUserToken', ['client']],
    ['revokeUserToken', ['client']],
    ['issueSystemToken', ['client']],
    ['introspectSystemToken', ['client']],
    ['revokeSystemToken', ['client']],
  ])('of %s are %j', (id, names) => {
    expect(operation(id).security).toEqual([{}, ...names.map((name) => ({ [name]: [] }))]);
  });

  test('are those of all operations that take any', () => {
    const all = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    const optional = all.filter(({ security = [] }) =>
      security.some((requirement) => Object.keys(requirement).length === 0),
    );
    expect(optional).toHaveLength(12);
    const named = new Set(all.flatMap(({ security = [] }) => security.flatMap(Object.keys)));
    expect([...named].sort()).toEqual(
      Object.keys(document.components.securitySchemes ?? {}).sort(),
    );
  });

  test('work: the session of authorize', async () => {
    const user = await people.user({ tenant: await people.tenant() });
    const client = await flow.client();
    const query = flow.query(client, pkce().challenge);
    const [, secret = ''] = (await flow.signIn(user)).split('=');
    const without = await flow.authorize(query);
    expect(without.headers.location).toContain('/sign-in');
    const answer = await flow.authorize(query, cookieFor('session', secret));
    expect(flow.told(answer).get('code')).toMatch(/./);
  });

  test('work: the client of the token endpoints, by HTTP Basic', async () => {
    expect(schemeOf('client')).toMatchObject({ type: 'http', scheme: 'basic' });
    const { clientId, secret } = await people.application('identity.tenants.list');
    const issued = await http
      .post('/api/oauth/token')
      .auth(clientId, secret)
      .send({ grant_type: 'client_credentials' })
      .expect(200);
    for (const path of ['/api/oauth/introspect', '/api/oauth/revoke']) {
      await http
        .post(path)
        .auth(clientId, secret)
        .send({ token: issued.body.access_token })
        .expect(200);
    }
    const client = await flow.client();
    const user = await people.user({ tenant: await people.tenant() });
    const { refresh_token } = await flow.tokens(client, await flow.signIn(user));
    const renewed = await http
      .post('/oauth/token')
      .auth(client.clientId, client.secret ?? '')
      .send({ grant_type: 'refresh_token', refresh_token })
      .expect(200);
    await http
      .post('/oauth/revoke')
      .auth(client.clientId, client.secret ?? '')
      .send({ token: renewed.body.access_token })
      .expect(200);
  });

  test('work: the confirmation cookie and the bearer token of verifyEmail', async () => {
    for (const kind of ['confirmation', 'bearer'] as const) {
      const email = `${randomUUID()}@example.test`;
      const registered = await http
        .post('/api/auth/register')
        .send({
          first_name: 'Ada',
          last_name: 'Tester',
          email,
          password: PASSWORD,
          password_confirmation: PASSWORD,
          tenant_name: 'Acme',
        })
        .expect(202);
      const { link } = await mailbox.next('email_verification', email);
      const token = link.searchParams.get('token') ?? '';
      const asked = (headers: Record<string, string>) =>
        http.get('/api/auth/email/verify').query({ token }).set(headers).expect(200);
      const [secret = ''] = Object.values(cookiesOf(registered));
      const login = await http.post('/api/auth/login').send({ email, password: PASSWORD });
      const headers: Record<string, string> =
        kind === 'bearer'
          ? { authorization: `Bearer ${login.body.data.token}` }
          : { cookie: cookieFor('confirmation', secret) };
      const [plain, known] = [await asked({}), await asked(headers)];
      expect(known.body.data.asks).not.toEqual(plain.body.data.asks);
      await http.post('/api/auth/email/verify').send({ token }).expect(422);
      await http.post('/api/auth/email/verify').set(headers).send({ token }).expect(200);
    }
  });

  test('work: the bearer token of register, which invites', async () => {
    const tenant = await people.tenant();
    const bearer = await people.caller(tenant, '*');
    await http
      .post('/api/auth/register')
      .set(bearer)
      .send({ first_name: 'Bob', last_name: 'Tester', email: `${randomUUID()}@example.test` })
      .expect(202);
    await http
      .post('/api/auth/register')
      .set({ authorization: 'Bearer a.b.c' })
      .send({ first_name: 'Bob', last_name: 'Tester', email: `${randomUUID()}@example.test` })
      .expect(401);
  });
});
