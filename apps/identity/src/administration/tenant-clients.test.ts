import { CodeFlow } from '../testing/code-flow.ts';
import { commandsOf } from '../testing/commands.ts';
import { startIdentity, type TestIdentity } from '../testing/identity.ts';

let identity: TestIdentity;
let flow: CodeFlow;
beforeAll(async () => {
  identity = await startIdentity({
    TENANT_CLIENT_REDIRECT_URIS: 'https://{slug}.example.test/callback',
  });
  flow = new CodeFlow(identity);
});
afterAll(() => identity.stop());

const done = (...args: string[]) => commandsOf(identity)(...args);
const clients = () => identity.context.database.oAuthClient;

describe('identity-admin complete-tenant-clients', () => {
  test('creates the missing client of a tenant, which can be used once it has a secret', async () => {
    const tenant = await identity.people.tenant();
    const clientId = `tenant-${tenant.slug}`;
    expect(await done('complete-tenant-clients')).toEqual([
      { tenant: tenant.slug, client_id: clientId, result: 'created' },
    ]);
    const { client_secret: secret } = await done('rotate-secret', clientId, '--overlap', '0');
    const cookie = await flow.signIn(await identity.people.user({ tenant }));
    const redirectUri = `https://${tenant.slug}.example.test/callback`;
    const tokens = await flow.tokens({ clientId, secret, redirectUri }, cookie);
    expect(tokens.access_token).toEqual(expect.any(String));
    expect(await done('complete-tenant-clients')).toEqual([]);
  });

  test('gives a client without redirect URIs the configured ones, and does not change others', async () => {
    const [bare, own] = [await identity.people.tenant(), await identity.people.tenant()];
    await done('complete-tenant-clients');
    const uris = ['https://own.example.test/callback'];
    await clients().update({
      where: { clientId: `tenant-${bare.slug}` },
      data: { redirectUris: [] },
    });
    await done('update-client', `tenant-${own.slug}`, '--redirect-uri', ...uris);
    expect(await done('complete-tenant-clients')).toEqual([
      { tenant: bare.slug, client_id: `tenant-${bare.slug}`, result: 'redirect_uris_set' },
    ]);
    expect(await clients().findUnique({ where: { clientId: `tenant-${own.slug}` } })).toMatchObject(
      { redirectUris: uris },
    );
  });

  test('names a tenant whose client cannot be created because its id is taken', async () => {
    const tenant = await identity.people.tenant();
    const clientId = `tenant-${tenant.slug}`;
    await clients().create({
      data: { clientId, name: 'Other', redirectUris: ['https://a.test/'] },
    });
    expect(await done('complete-tenant-clients')).toEqual([
      { tenant: tenant.slug, client_id: clientId, result: 'taken' },
    ]);
    await clients().delete({ where: { clientId } });
  });
});

describe('identity-admin update-client', () => {
  test('replaces the redirect URIs: codes are sent to the new one and no longer to the old one', async () => {
    const client = await flow.client();
    const cookie = await flow.signIn(
      await identity.people.user({ tenant: await identity.people.tenant() }),
    );
    await flow.tokens(client, cookie);
    const redirectUri = 'https://moved.example.test/callback';
    const changed = await done('update-client', client.clientId, '--redirect-uri', redirectUri);
    expect(changed).toMatchObject({ client_id: client.clientId, redirect_uris: [redirectUri] });
    await flow.tokens({ ...client, redirectUri }, cookie);
    await expect(flow.tokens(client, cookie)).rejects.toThrow();
  });

  test('changes only the name', async () => {
    const { clientId } = await flow.client();
    const before = await clients().findUniqueOrThrow({ where: { clientId } });
    await done('update-client', clientId, '--name', ' Panel ');
    expect(await clients().findUnique({ where: { clientId } })).toEqual({
      ...before,
      name: 'Panel',
    });
  });

  test('sets the scopes of a third-party client, and revokes its tokens if they are reduced', async () => {
    const [contacts, tasks] = ['tenant.*.crm.contacts.view', 'tenant.*.crm.tasks.view'];
    const { client_id: clientId, ...created } = await done(
      'create-client',
      'reporting',
      '--name',
      'Reporting',
      '--public',
      '--trusted',
      '--redirect-uri',
      'https://reporting.example.test/callback',
      '--scope',
      contacts,
    );
    expect(created.allowed_scopes).toEqual([contacts]);
    const client = {
      clientId,
      secret: null,
      redirectUri: 'https://reporting.example.test/callback',
    };
    const cookie = await flow.signIn(await identity.people.user());
    const { access_token } = await flow.tokens(client, cookie, { scope: contacts });
    const changed = await done('update-client', clientId, '--scope', contacts, tasks);
    expect(changed.allowed_scopes).toEqual([contacts, tasks]);
    const who = () => identity.http.get('/api/user').set('authorization', `Bearer ${access_token}`);
    expect((await who()).status).toBe(200);
    await done('update-client', clientId, '--scope', tasks);
    expect((await who()).status).toBe(401);
    await expect(flow.tokens(client, cookie, { scope: contacts })).rejects.toThrow('invalid_scope');
    await flow.tokens(client, cookie, { scope: tasks });
    expect((await done('update-client', clientId, '--scope')).allowed_scopes).toEqual([]);
  });

  test('makes a client first-party, and revokes its tokens when it no longer is', async () => {
    const client = await flow.client({ isFirstParty: false });
    const { clientId } = client;
    const cookie = await flow.signIn(await identity.people.user());
    await expect(flow.tokens(client, cookie, { scope: 'api' })).rejects.toThrow('invalid_scope');
    expect((await done('update-client', clientId, '--first-party')).is_first_party).toBe(true);
    const { access_token, refresh_token } = await flow.tokens(client, cookie, { scope: 'api' });
    await done('update-client', clientId, '--name', 'Intranet');
    const who = () => identity.http.get('/api/user').set('authorization', `Bearer ${access_token}`);
    expect((await who()).status).toBe(200);
    expect((await done('update-client', clientId, '--no-first-party')).is_first_party).toBe(false);
    expect((await who()).status).toBe(401);
    expect((await flow.refresh(client, refresh_token)).status).toBe(400);
    await expect(flow.tokens(client, cookie, { scope: 'api' })).rejects.toThrow('invalid_scope');
  });

  test('rejects making the client of a tenant first-party', async () => {
    const tenant = await identity.people.tenant();
    const { clientId } = await flow.client({ tenantId: tenant.id });
    for (const option of ['--first-party', '--no-first-party']) {
      await expect(done('update-client', clientId, option)).rejects.toThrow('client of a tenant');
    }
  });

  test('rejects invalid values by name and changes nothing', async () => {
    const { clientId } = await flow.client();
    const before = await clients().findUniqueOrThrow({ where: { clientId } });
    const { clientId: application } = await identity.people.application('identity.tenants.list');
    const https = 'https://good.example.test/callback';
    for (const [args, named] of [
      [[clientId, '--redirect-uri', https, 'http://panel.example.test/'], 'http://panel.example'],
      [[clientId, '--redirect-uri', 'https://*.example.test/'], 'wildcard'],
      [[clientId, '--redirect-uri', https, '--name', ' '], 'name'],
      [[clientId], '--redirect-uri'],
      [['nobody', '--name', 'A'], 'no client called nobody'],
      [[application, '--name', 'A'], 'system application'],
      [[clientId, '--scope', 'tenant.*.crm.contacts.view'], 'not a third-party client'],
      [[clientId, '--scope', 'tenant.*.crm.kontacts.view'], 'kontacts'],
      [[clientId, '--scope', 'identity.members'], 'only the beginning'],
      [[clientId, '--name', 'A', '--scope', 'tenant.*.crm.contacts.view'], 'not a third-party'],
    ] as const) {
      await expect(done('update-client', ...args)).rejects.toThrow(named);
    }
    expect(await clients().findUnique({ where: { clientId } })).toEqual(before);
  });
});
