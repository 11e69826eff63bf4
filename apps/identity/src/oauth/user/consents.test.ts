import type { Origin } from '../../origin/origin.ts';
import { CodeFlow, pageOf, type TestClient } from '../../testing/code-flow.ts';
import { Forms } from '../../testing/forms.ts';
import { startIdentity, type TestIdentity } from '../../testing/identity.ts';
import { claimsOf, expectRefused } from '../../testing/tokens.ts';
import type { Consents } from './consents.ts';

let identity: TestIdentity;
let flow: CodeFlow;
let consents: Consents;
beforeAll(async () => {
  identity = await startIdentity();
  flow = new CodeFlow(identity);
  ({ consents } = identity.context.authorizationServer);
});
afterAll(() => identity.stop());

const CONTACTS = 'tenant.*.crm.contacts.*';
const origin: Origin = { ipAddress: null, userAgent: null };
const challenge = 'c'.repeat(43);
const secretOf = (cookie: string): string => cookie.slice(cookie.indexOf('=') + 1);

/** A user at the consent page of an untrusted client. */
const asked = async (changes: Record<string, string> = {}) => {
  const client = await flow.client({ isTrusted: false, allowedScopes: [CONTACTS] });
  const cookie = await flow.signIn(await identity.people.user());
  return { client, cookie, ...(await sendToConsent(client, cookie, changes)) };
};

const sendToConsent = async (
  client: TestClient,
  cookie: string,
  changes: Record<string, string> = {},
) => {
  const query = flow.query(client, challenge, { state: 's', scope: 'openid profile', ...changes });
  const answer = await flow.authorize(query, cookie);
  const address = new URL(answer.headers.location ?? '');
  expect([answer.status, address.origin]).toEqual([302, 'https://identity.test']);
  expect(address.pathname).toMatch(/^\/consent\/[\w-]{20,}$/);
  const [resume = ''] = [answer.headers['set-cookie'] ?? []].flat();
  return { uid: address.pathname.split('/').at(-1) ?? '', resume };
};

/** Gives the consent that the page requests. */
const accepted = async (uid: string, cookie: string): Promise<string> => {
  const secret = secretOf(cookie);
  const { tenant } = await consents.show(uid, secret, origin);
  return consents.accept(uid, secret, origin, tenant?.id ?? null);
};

/** Follows the redirect after the page, with the cookies of the browser. */
const goOn = (address: string, cookie: string, resume: string) => {
  const { origin: at, pathname } = new URL(address);
  expect(at).toBe('https://identity.test');
  return identity.http
    .get(pathname)
    .set('cookie', `${cookie}; ${resume.split(';')[0]}`)
    .redirects(0);
};

test('an untrusted client is sent to the consent page, which gets the client and the scopes', async () => {
  const { client, cookie, uid, resume } = await asked();
  expect(await consents.show(uid, secretOf(cookie), origin)).toEqual({
    client: { id: client.clientId, name: 'Panel' },
    redirectUri: client.redirectUri,
    tenant: null,
    scopes: ['openid', 'profile'],
    returnTo: expect.stringMatching(
      /^https:\/\/identity\.test\/oauth\/authorize\?.*code_challenge=/,
    ),
    goOnAt: null,
  });
  expect(resume).toMatch(new RegExp(`path=/oauth/authorize/${uid};.*; secure; httponly`, 'i'));
});

test('after the user accepts, the browser returns with a code', async () => {
  const { client, cookie, uid, resume } = await asked();
  const answer = await goOn(await accepted(uid, cookie), cookie, resume);
  expect(answer.status).toBe(302);
  expect(Object.fromEntries(flow.told(answer))).toEqual({
    code: expect.any(String),
    state: 's',
    iss: 'https://identity.test',
  });
  expect(answer.headers.location).toContain(client.redirectUri);
});

/** Gives the consent that a client requests, in a session of the user. */
const allow = async (client: TestClient, cookie: string, scope: string) => {
  const { uid, resume } = await sendToConsent(client, cookie, { scope });
  return goOn(await accepted(uid, cookie), cookie, resume);
};

test('the consent is remembered in every session, for the same client and user', async () => {
  const user = await identity.people.user();
  const cookie = await flow.signIn(user);
  const client = await flow.client({ isTrusted: false });
  await allow(client, cookie, 'openid profile');

  const first = await flow.tokens(client, cookie, { scope: 'openid' });
  const second = await flow.tokens(client, await flow.signIn(user), { scope: 'openid profile' });
  expect([first.scope, second.scope]).toEqual(['openid', 'openid profile']);
  await sendToConsent(client, cookie, { prompt: 'consent' });
  await sendToConsent(await flow.client({ isTrusted: false }), cookie);
  await sendToConsent(client, await flow.signIn(await identity.people.user()));
});

test('the user is asked again only if more is requested', async () => {
  const tenant = await identity.people.tenant();
  const client = await flow.client({ isTrusted: false, allowedScopes: [CONTACTS] });
  const cookie = await flow.signIn(await identity.people.user({ tenant }));
  await allow(client, cookie, 'openid tenant.*.crm.contacts.list');
  await allow(client, cookie, 'openid email');
  await allow(client, cookie, CONTACTS);
  const scope = `openid email tenant.${tenant.slug}.crm.contacts.update`;
  expect((await flow.tokens(client, cookie, { scope })).scope).toBe(scope);
  await sendToConsent(client, cookie, { scope: `openid phone ${CONTACTS}` });
});

test('a consent to every permission covers permissions only: other scopes are asked for', async () => {
  const tenant = await identity.people.tenant();
  const cookie = await flow.signIn(await identity.people.user({ tenant }));
  const thirdParty = await flow.client({ isTrusted: false, allowedScopes: ['*'] });
  const platform = await flow.client({ isTrusted: false, isFirstParty: true });
  for (const client of [thirdParty, platform]) {
    await allow(client, cookie, '*');
    const scope = '* tenant.*.crm.contacts.view';
    expect((await flow.tokens(client, cookie, { scope })).scope).toBe(scope);
    for (const name of ['openid', 'profile', 'email', 'phone', 'offline_access']) {
      await sendToConsent(client, cookie, { scope: `* ${name}` });
    }
  }
  await sendToConsent(platform, cookie, { scope: 'api' });
  await allow(platform, cookie, 'openid api');
  const { scope } = await flow.tokens(platform, cookie, { scope: 'openid * api' });
  expect(scope).toBe('openid * api');
});

test('the tenant is the one that was active at consent, and the user is asked again after leaving it', async () => {
  const [tenant, other] = [await identity.people.tenant(), await identity.people.tenant()];
  const client = await flow.client({ isTrusted: false, allowedScopes: [CONTACTS] });
  const user = await identity.people.user({ tenant });
  await identity.people.join(user, other, await identity.people.role(other));
  const cookie = await flow.signIn(user);
  await allow(client, cookie, CONTACTS);
  const { database } = identity.context;
  await database.user.update({ where: { id: user.id }, data: { tenantId: other.id } });
  const { access_token } = await flow.tokens(client, cookie, { scope: CONTACTS });
  expect(claimsOf(access_token).tenant_id).toBe(tenant.id);
  await database.membership.deleteMany({ where: { userId: user.id, tenantId: tenant.id } });
  await expectRefused(identity.http, access_token);
  await allow(client, cookie, CONTACTS);
  const again = await flow.tokens(client, cookie, { scope: CONTACTS });
  expect(claimsOf(again.access_token).tenant_id).toBe(other.id);
});

/** A user in two tenants, and a function to switch between them. */
const inTwoTenants = async () => {
  const [tenant, other] = [await identity.people.tenant(), await identity.people.tenant()];
  const user = await identity.people.user({ tenant });
  await identity.people.join(user, other, await identity.people.role(other));
  const { database } = identity.context;
  const activate = (tenantId: string) =>
    database.user.update({ where: { id: user.id }, data: { tenantId } });
  const client = await flow.client({ isTrusted: false, allowedScopes: [CONTACTS] });
  return { tenant, other, user, client, activate, cookie: await flow.signIn(user) };
};

test("a new consent in another tenant revokes the client's tokens in the first one", async () => {
  const { other, user, client, activate, cookie } = await inTwoTenants();
  await allow(client, cookie, CONTACTS);
  const before = await flow.tokens(client, cookie, { scope: CONTACTS });
  const pending = await flow.code(client, cookie, { scope: CONTACTS });
  await activate(other.id);
  const { uid, resume } = await sendToConsent(client, cookie, {
    scope: CONTACTS,
    prompt: 'consent',
  });
  const answer = await goOn(await accepted(uid, cookie), cookie, resume);
  expect(flow.told(answer).get('code')).toMatch(/\S/);
  await expectRefused(identity.http, before.access_token);
  expect((await flow.refresh(client, before.refresh_token)).status).toBe(400);
  expect((await flow.exchange(client, pending)).status).toBe(400);
  const events = await identity.context.database.outboxEvent.findMany({
    where: { topic: 'identity.token.revoked', key: user.id },
  });
  const token_id = claimsOf(before.access_token).jti;
  expect(events.map(({ payload }) => (payload as { data: unknown }).data)).toContainEqual({
    token_id,
    user_id: user.id,
    reason: 'consent_withdrawn',
  });
  const after = await flow.tokens(client, cookie, { scope: CONTACTS });
  expect(claimsOf(after.access_token).tenant_id).toBe(other.id);
  expect((await flow.refresh(client, after.refresh_token)).status).toBe(200);
});

test('a refresh token is invalid if the consent is for another tenant', async () => {
  const { tenant, other, user, client, cookie } = await inTwoTenants();
  await allow(client, cookie, CONTACTS);
  const { refresh_token } = await flow.tokens(client, cookie, { scope: CONTACTS });
  const { consent } = identity.context.database;
  const where = { userId_clientId: { userId: user.id, clientId: client.clientId } };
  await consent.update({ where, data: { tenantId: other.id } });
  expect((await flow.refresh(client, refresh_token)).status).toBe(400);
  await consent.update({ where, data: { tenantId: tenant.id } });
  expect((await flow.refresh(client, refresh_token)).status).toBe(200);
});

test('the consent page grants only the tenant that it shows: if another one is active, it is shown again', async () => {
  const { tenant, other, user, client, activate, cookie } = await inTwoTenants();
  const { uid } = await sendToConsent(client, cookie, { scope: CONTACTS });
  const path = `/consent/${uid}`;
  const forms = new Forms(identity);
  const form = await forms.open(path, cookie);
  const shown = await identity.http.get(path).set('cookie', form.cookie);
  expect(shown.text).toContain(tenant.name);
  const press = (page: string) => {
    const [, tenantId = ''] = /name="tenant_id" value="([^"]*)"/.exec(page) ?? [];
    return forms.send(path, form, { decision: 'accept', tenant_id: tenantId });
  };
  await activate(other.id);
  const refused = await press(shown.text);
  expect(refused.status).toBe(409);
  expect(refused.text).toMatch(/role="alert"/);
  expect(refused.text).toContain(other.name);
  const { consent } = identity.context.database;
  expect(await consent.count({ where: { userId: user.id } })).toBe(0);
  expect((await press(refused.text)).status).toBe(303);
  const [kept] = await consent.findMany({ where: { userId: user.id } });
  expect(kept?.tenantId).toBe(other.id);
});

test('the end of one chain of tokens affects neither the consent nor other chains', async () => {
  const { client, cookie, uid, resume } = await asked();
  await goOn(await accepted(uid, cookie), cookie, resume);
  const scope = { scope: 'openid' };
  const kept = await flow.tokens(client, cookie, scope);
  const given = await flow.code(client, cookie, scope);
  await flow.exchange(client, given);
  expect((await flow.exchange(client, given)).status).toBe(400);
  expect((await flow.refresh(client, kept.refresh_token)).status).toBe(200);
  expect((await flow.tokens(client, cookie, scope)).scope).toBe('openid');
});

test('a page that is needed after the consent returns to the request', async () => {
  const client = await flow.client({ isTrusted: false });
  const user = await identity.people.user();
  const cookie = await flow.signIn(user);
  const { uid, resume } = await sendToConsent(client, cookie);
  const address = await accepted(uid, cookie);
  const { database } = identity.context;
  const force = (forcePasswordChange: boolean) =>
    database.user.update({ where: { id: user.id }, data: { forcePasswordChange } });
  await force(true);
  const { page, returnTo } = pageOf(await goOn(address, cookie, resume));
  expect(page).toBe('https://identity.test/password/change');
  expect(Object.fromEntries(returnTo.searchParams)).toEqual(
    flow.query(client, challenge, { state: 's', scope: 'openid profile' }),
  );
  await force(false);
  const answer = await identity.http
    .get(`${returnTo.pathname}${returnTo.search}`)
    .set('cookie', cookie)
    .redirects(0);
  expect(flow.told(answer).get('code')).toMatch(/\S/);
});

test('if the user refuses, the client gets access_denied', async () => {
  const { client, cookie, uid, resume } = await asked();
  const answer = await goOn(await consents.refuse(uid, secretOf(cookie), origin), cookie, resume);
  expect(answer.headers.location).toContain(client.redirectUri);
  expect(Object.fromEntries(flow.told(answer))).toMatchObject({
    error: 'access_denied',
    state: 's',
    iss: 'https://identity.test',
  });
});

test('a request can only be answered in its own session', async () => {
  const { uid, cookie } = await asked();
  const stranger = await flow.signIn(await identity.people.user());
  for (const secret of [secretOf(stranger), 'nonsense', '', undefined]) {
    for (const act of ['show', 'accept', 'refuse'] as const) {
      await expect(consents[act](uid, secret, origin, null)).rejects.toMatchObject({ status: 404 });
    }
  }
  const unknown = consents.accept('nonsense', secretOf(cookie), origin, null);
  await expect(unknown).rejects.toMatchObject({ status: 404 });
});

test('the first answer to a request counts', async () => {
  const { uid, cookie, resume } = await asked();
  const secret = secretOf(cookie);
  const address = await consents.refuse(uid, secret, origin);
  expect(await accepted(uid, cookie)).toBe(address);
  expect((await consents.show(uid, secret, origin)).goOnAt).toBe(address);
  expect(flow.told(await goOn(address, cookie, resume)).get('error')).toBe('access_denied');
});

test('a consent that is sent twice continues, and the client gets a code', async () => {
  const { client, cookie, uid, resume } = await asked();
  const path = `/consent/${uid}`;
  const forms = new Forms(identity);
  const form = await forms.open(path, cookie);
  const press = () => forms.send(path, form, { decision: 'accept' });
  const goesOn = [303, `/continue?request=${uid}`];
  const [first, second] = [await press(), await press()];
  expect([first.status, first.headers.location]).toEqual(goesOn);
  expect([second.status, second.headers.location]).toEqual(goesOn);
  const shown = await identity.http.get(path).set('cookie', form.cookie).redirects(0);
  expect([shown.status, shown.headers.location]).toEqual(goesOn);
  const answer = await goOn(`https://identity.test/oauth/authorize/${uid}`, cookie, resume);
  expect(answer.headers.location).toContain(client.redirectUri);
  expect(flow.told(answer).get('code')).toMatch(/\S/);
});

test('a client of a tenant gets access_denied if the user has left the tenant meanwhile', async () => {
  const tenant = await identity.people.tenant();
  const user = await identity.people.user({ tenant });
  const client = await flow.client({ isTrusted: false, tenantId: tenant.id });
  const cookie = await flow.signIn(user);
  const { uid, resume } = await sendToConsent(client, cookie, { scope: 'openid' });
  const path = `/consent/${uid}`;
  const forms = new Forms(identity);
  const form = await forms.open(path, cookie);
  await identity.context.database.membership.deleteMany({ where: { userId: user.id } });
  const sent = { decision: 'accept', tenant_id: tenant.id };
  for (const answer of [
    await identity.http.get(path).set('cookie', form.cookie).redirects(0),
    await forms.send(path, form, sent),
  ]) {
    expect([answer.status, answer.headers.location]).toEqual([303, `/continue?request=${uid}`]);
  }
  const address = await consents.accept(uid, secretOf(cookie), origin, tenant.id);
  const told = flow.told(await goOn(address, cookie, resume));
  expect(told.get('error')).toBe('access_denied');
  expect(await identity.context.database.consent.count({ where: { userId: user.id } })).toBe(0);
});

test('a request cannot continue without the answer, without the cookie or as another user', async () => {
  const { uid, cookie, resume } = await asked();
  const path = `https://identity.test/oauth/authorize/${uid}`;
  const stranger = await flow.signIn(await identity.people.user());
  for (const answer of [
    await goOn(path, cookie, ''),
    await goOn(path, stranger, resume),
    await goOn(path, '', resume),
    await goOn('https://identity.test/oauth/authorize/nonsense', cookie, ''),
  ]) {
    expect([answer.status, answer.body.success]).toEqual([400, false]);
    expect(answer.headers).not.toHaveProperty('location');
  }
  const unanswered = await goOn(path, cookie, resume);
  expect(unanswered.headers.location ?? '').not.toContain('code=');
});

test('an unanswered request expires', async () => {
  await asked();
  const rows = await identity.context.database.oAuthArtifact.findMany({
    where: { model: 'Interaction' },
  });
  expect(rows.length).toBeGreaterThan(0);
  const inTenMinutes = Date.now() + 600_000;
  for (const { expiresAt } of rows) expect(+(expiresAt ?? inTenMinutes)).toBeLessThan(inTenMinutes);
});

test('the session’s secret is not stored with the request', async () => {
  const { cookie } = await asked();
  const rows = await identity.context.database.oAuthArtifact.findMany();
  expect(rows.length).toBeGreaterThan(0);
  expect(JSON.stringify(rows)).not.toContain(secretOf(cookie));
});

describe('a consent page that does not belong to the session any more', () => {
  const pageAt = async (
    client: TestClient,
    cookie: string,
    changes: Record<string, string> = {},
  ) => {
    const query = flow.query(client, challenge, {
      state: 's',
      scope: 'openid profile',
      ...changes,
    });
    const { headers } = await flow.authorize(query, cookie);
    return new URL(headers.location ?? '').pathname;
  };
  const opened = async (changes: Record<string, string> = {}) => {
    const client = await flow.client({ isTrusted: false, allowedScopes: [CONTACTS] });
    const user = await identity.people.user();
    const cookie = await flow.signIn(user);
    const path = await pageAt(client, cookie, changes);
    const forms = new Forms(identity);
    const form = await forms.open(path, cookie);
    const { text } = await identity.http.get(path).set('cookie', form.cookie);
    const [, action = ''] = /id="form" method="post" action="([^"]*)"/.exec(text) ?? [];
    return { client, user, path, forms, form, action: path + action.replaceAll('&amp;', '&') };
  };
  const endSessions = (userId: string) =>
    identity.context.database.session.updateMany({
      where: { userId },
      data: { endedAt: new Date() },
    });
  const parametersOf = (address: string | null) =>
    Object.fromEntries(new URL(address ?? '').searchParams);
  const visitorOf = (cookie: string): string => cookie.slice(cookie.indexOf('__Host-visitor'));

  test.each(['accept', 'refuse'])(
    'returns to the request after a sign-in if the session has ended: %s',
    async (decision) => {
      const { client, user, path, forms, form, action } = await opened({ state: 'mine' });
      await endSessions(user.id);
      for (const address of [path, action]) {
        for (const answer of [
          await forms.send(address, form, { decision }),
          await identity.http.get(address).set('cookie', form.cookie).redirects(0),
        ]) {
          const page = new URL(answer.headers.location ?? '', 'https://identity.test');
          expect([answer.status, page.pathname]).toEqual([303, '/sign-in']);
          const returnTo = page.searchParams.get('return_to');
          expect(parametersOf(returnTo)).toEqual(
            flow.query(client, challenge, { state: 'mine', scope: 'openid profile' }),
          );
          const again = new URL(returnTo ?? '');
          const answered = await identity.http
            .get(again.pathname + again.search)
            .set('cookie', await flow.signIn(user))
            .redirects(0);
          expect(answered.headers.location).toContain('/consent/');
        }
        const { consent } = identity.context.database;
        expect(await consent.count({ where: { userId: user.id } })).toBe(0);
      }
    },
  );

  test.each(['accept', 'refuse'])(
    'begins the request again for the person who has signed in meanwhile: %s',
    async (decision) => {
      const { client, path, action, forms, form } = await opened();
      const other = await identity.people.user();
      const cookie = `${await flow.signIn(other)}; ${visitorOf(form.cookie)}`;
      for (const address of [path, action]) {
        for (const answer of [
          await forms.send(address, { ...form, cookie }, { decision }),
          await identity.http.get(address).set('cookie', cookie).redirects(0),
        ]) {
          const page = new URL(answer.headers.location ?? '', 'https://identity.test');
          expect([answer.status, page.pathname]).toEqual([303, '/continue']);
          expect(parametersOf(page.searchParams.get('return_to'))).toMatchObject({
            client_id: client.clientId,
            state: 's',
          });
        }
      }
      const { consent } = identity.context.database;
      expect(await consent.count({ where: { clientId: client.clientId } })).toBe(0);
    },
  );

  test('begins the request again if it has expired', async () => {
    const { client, path, action, forms, form } = await opened();
    await identity.context.database.oAuthArtifact.deleteMany({ where: { model: 'Interaction' } });
    const answer = await forms.send(action, form, { decision: 'accept' });
    const page = new URL(answer.headers.location ?? '', 'https://identity.test');
    expect([answer.status, page.pathname]).toEqual([303, '/continue']);
    expect(page.searchParams.get('return_to')).toContain(client.clientId);
    // The page itself is gone.
    await identity.http.get(path).set('cookie', form.cookie).expect(404);
  });

  test.each(['/pin', '/password/change', '/email/confirm', '/two-factor'])(
    'is like %s, whose form returns to the request after a sign-in',
    async (page) => {
      const query = flow.query(await flow.client(), challenge) as Record<string, string>;
      const returnTo = `https://identity.test/oauth/authorize?${new URLSearchParams(query)}`;
      const forms = new Forms(identity);
      const path = `${page}?${new URLSearchParams({ return_to: returnTo })}`;
      const answer = await forms.send(path, await forms.open('/sign-in'), { pin: '1', code: '1' });
      const next = new URL(answer.headers.location ?? '', 'https://identity.test');
      expect([answer.status, next.pathname]).toEqual([303, '/sign-in']);
      expect(next.searchParams.get('return_to')).toBe(returnTo);
    },
  );
});
