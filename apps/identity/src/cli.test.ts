import { migrate } from '@tessera/database-kit';
import { freshDatabase, type TestDatabase } from '@tessera/local-stack';
import bcrypt from 'bcrypt';
import { v7 as uuidv7 } from 'uuid';
import { createDatabase, type Database, migrations } from './database.ts';
import { digest } from './security/secrets.ts';
import { type Ended, identityAdmin } from './testing/admin.ts';
import { commandIn } from './testing/commands.ts';

let fresh: TestDatabase;
let database: Database;
let close: () => Promise<void>;

beforeAll(async () => {
  fresh = await freshDatabase('identity-empty', async () => {});
  await migrate(fresh.url, migrations);
  const made = createDatabase({ url: fresh.url, poolSize: 2 }, console as never);
  database = made.database;
  close = async () => {
    await made.database.$disconnect();
    await made.pool.end();
    await fresh.drop();
  };
});
afterAll(() => close());

const admin = (args: readonly string[], input = ''): Promise<Ended> =>
  commandIn({ DATABASE_URL: fresh.url }, args, input);
const adminProcess = (args: readonly string[], input = ''): Promise<Ended> =>
  identityAdmin({ DATABASE_URL: fresh.url }, args, input);

const SCOPE = 'identity.tenants.view';

const document = () => {
  const slug = `acme-${uuidv7().slice(-6)}`;
  return {
    tenants: [{ id: uuidv7(), slug, name: 'Acme', plan: 'business' }],
    users: [
      {
        id: uuidv7(),
        email: `owner@${slug}.test`,
        first_name: 'Olivia',
        last_name: 'Owner',
        password: 'Correct-horse-7-battery',
        memberships: [{ tenant_slug: slug, role: 'owner' }],
      },
    ],
    system_applications: [
      {
        client_id: `pipeline-${slug}`,
        name: 'Pipeline',
        client_secret: 'a-secret-of-at-least-32-characters',
        scopes: ['identity.tenants.versions.update'],
      },
    ],
    clients: [
      {
        client_id: `tenant-${slug}`,
        name: 'Acme',
        client_secret: null,
        redirect_uris: ['http://127.0.0.1:3000/callback'],
        tenant_slug: slug,
      },
    ],
  };
};

describe('identity-admin seed', () => {
  test('creates what the document contains, and stores secrets as hashes', async () => {
    const seed = document();
    const { code, out } = await adminProcess(['--json', 'seed'], JSON.stringify(seed));
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({
      tenants: 1,
      users: 1,
      memberships: 1,
      system_applications: 1,
      clients: 1,
    });
    const [person] = seed.users;
    const user = await database.user.findFirstOrThrow({
      where: { email: person?.email ?? '' },
      include: { memberships: { include: { role: true } } },
    });
    expect(await bcrypt.compare('Correct-horse-7-battery', user.passwordHash ?? '')).toBe(true);
    expect(user.memberships).toMatchObject([{ tenantId: user.tenantId, role: { name: 'owner' } }]);
    const application = await database.systemApplication.findUniqueOrThrow({
      where: { clientId: seed.system_applications[0]?.client_id ?? '' },
    });
    expect(Buffer.from(application.secretHash)).toEqual(
      digest('a-secret-of-at-least-32-characters'),
    );
  });

  test('applied again changes nothing, not even a password that was changed since', async () => {
    const seed = document();
    await admin(['seed'], JSON.stringify(seed));
    const where = { email: seed.users[0]?.email ?? '' };
    await database.user.updateMany({ where, data: { passwordHash: 'changed' } });
    const { code, out } = await admin(['--json', 'seed'], JSON.stringify(seed));
    expect({ code, result: JSON.parse(out) }).toEqual({
      code: 0,
      result: { tenants: 0, users: 0, memberships: 0, system_applications: 0, clients: 0 },
    });
    expect(await database.user.findFirst({ where })).toMatchObject({ passwordHash: 'changed' });
  });

  test('rejects a reserved slug, and a password that contains the name of its user', async () => {
    const seed = document();
    const reserved = { ...seed, tenants: [{ ...seed.tenants[0], slug: 'admin' }] };
    const slug = await admin(['seed'], JSON.stringify(reserved));
    expect([slug.code, slug.error]).toEqual([1, expect.stringContaining('"admin" is reserved')]);
    const weak = { ...seed, users: [{ ...seed.users[0], password: 'Olivia-harbour-7' }] };
    const password = await admin(['seed'], JSON.stringify(weak));
    expect([password.code, password.error]).toEqual([1, expect.stringContaining('your name')]);
  });

  test('creates clients for tenants without one, with the configured redirect URIs', async () => {
    const seed = { ...document(), clients: [] };
    const slug = seed.tenants[0]?.slug ?? '';
    const { code, out } = await commandIn(
      {
        DATABASE_URL: fresh.url,
        TENANT_CLIENT_REDIRECT_URIS: 'https://{slug}.example.test/callback',
      },
      ['--json', 'seed'],
      JSON.stringify(seed),
    );
    expect({ code, result: JSON.parse(out) }).toMatchObject({ code: 0, result: { clients: 1 } });
    const client = await database.oAuthClient.findUniqueOrThrow({
      where: { clientId: `tenant-${slug}` },
    });
    expect(client).toMatchObject({
      redirectUris: [`https://${slug}.example.test/callback`],
      tenantId: seed.tenants[0]?.id,
      isTrusted: true,
    });
    expect(client.secretHash).toHaveLength(32);
  });

  test('an invalid document is rejected as a whole, naming every invalid field', async () => {
    const seed = document();
    const users = [{ ...seed.users[0], email: 'nobody', password: '' }];
    const { code, error } = await admin(['seed'], JSON.stringify({ ...seed, users }));
    expect(code).toBe(1);
    expect(error).toMatch(/users\.0\.email: .*\nusers\.0\.password: /);
    expect(error).not.toContain('a-secret-of-at-least');
    const { slug } = seed.tenants[0] ?? { slug: '' };
    expect(await database.tenant.findUnique({ where: { slug } })).toBeNull();
  });

  test('a weak password is rejected with the violated rules and without repeating it', async () => {
    const seed = document();
    const users = [{ ...seed.users[0], password: 'weak-as-can-be' }];
    const { code, error } = await admin(['seed'], JSON.stringify({ ...seed, users }));
    expect(code).toBe(1);
    expect(error).toMatch(/uppercase letter.*a digit/);
    expect(error).not.toContain('weak-as-can-be');
  });

  test('unknown roles, tenants and scopes and invalid redirect URIs are named, and nothing is created', async () => {
    const seed = document();
    const [user] = seed.users;
    const [application] = seed.system_applications;
    const [client] = seed.clients;
    const wrong = [
      [
        { users: [{ ...user, memberships: [{ tenant_slug: 'nowhere', role: 'owner' }] }] },
        'tenant "nowhere"',
      ],
      [
        {
          users: [{ ...user, memberships: [{ tenant_slug: seed.tenants[0]?.slug, role: 'king' }] }],
        },
        'role "king"',
      ],
      [
        { system_applications: [{ ...application, scopes: ['identity.tenant.list'] }] },
        'identity.tenant.list',
      ],
      [
        { system_applications: [{ ...application, scopes: ['identity.tenants'] }] },
        'such as identity.tenants.list',
      ],
      [
        { clients: [{ ...client, scopes: ['tenant.elsewhere.crm.contacts.view'] }] },
        'tenant.elsewhere.crm.contacts.view',
      ],
      [
        { clients: [{ ...client, redirect_uris: ['http://panel.example.com/callback'] }] },
        'http://panel.example.com/callback',
      ],
    ] as const;
    for (const [change, named] of wrong) {
      const { code, error } = await admin(['seed'], JSON.stringify({ ...seed, ...change }));
      expect({ code, error }).toEqual({ code: 1, error: expect.stringContaining(named) });
    }
    expect(
      await database.tenant.findUnique({ where: { slug: seed.tenants[0]?.slug ?? '' } }),
    ).toBeNull();
  });
});

describe('identity-admin', () => {
  test('creates an administrator whose password is shown once and stored as a hash', async () => {
    const email = `ada-${uuidv7()}@example.test`;
    const args = [
      '--json',
      'create-administrator',
      email,
      '--first-name',
      'Ada',
      '--last-name',
      'A',
    ];
    const { code, out } = await admin(args);
    expect(code).toBe(0);
    const user = await database.user.findFirstOrThrow({ where: { email } });
    expect(user.isSystemAdmin).toBe(true);
    expect(await bcrypt.compare(JSON.parse(out).password, user.passwordHash ?? '')).toBe(true);
    expect(await admin(args)).toMatchObject({ code: 1, error: expect.stringContaining('already') });
  });

  test('creates an administrator with a password from standard input, which is never printed', async () => {
    const email = `grace-${uuidv7()}@example.test`;
    const args = ['create-administrator', email, '--first-name', 'Grace', '--last-name', 'H'];
    const weak = await admin([...args, '--password-stdin'], 'weak-as-can-be\n');
    expect(weak).toMatchObject({ code: 1, error: expect.stringMatching(/uppercase.*digit/) });
    expect(weak.error).not.toContain('weak-as-can-be');
    const password = 'Correct-horse-7-battery';
    const { code, out } = await adminProcess(
      [...args, '--json', '--password-stdin'],
      `${password}\n`,
    );
    expect({ code, shown: JSON.parse(out) }).toEqual({
      code: 0,
      shown: { id: expect.any(String), email },
    });
    const user = await database.user.findFirstOrThrow({ where: { email } });
    expect(await bcrypt.compare(password, user.passwordHash ?? '')).toBe(true);
    const listed = await admin(['list-administrators', '--json']);
    expect(JSON.parse(listed.out)).toContainEqual({
      id: user.id,
      email,
      name: 'Grace H',
      is_active: true,
      last_login_at: null,
    });
    expect(listed.out).not.toContain(user.passwordHash ?? '');
  });

  test('creates a system application whose secret is shown once and stored as a hash', async () => {
    const clientId = `pipeline-${uuidv7()}`;
    const args = [
      'create-system-application',
      clientId,
      'identity.tenants.*',
      '--name',
      'Pipeline',
    ];
    const { code, out } = await admin(['--json', ...args]);
    const { client_secret } = JSON.parse(out);
    const { secretHash } = await database.systemApplication.findUniqueOrThrow({
      where: { clientId },
    });
    expect({ code, hash: Buffer.from(secretHash) }).toEqual({
      code: 0,
      hash: digest(client_secret),
    });
  });

  test('warns about scopes of a system application that match no permission', async () => {
    const args = ['create-system-application', `app-${uuidv7()}`, '--name', 'App', '--json'];
    const { code, out } = await admin([...args, 'identity.*', SCOPE]);
    expect([code, JSON.parse(out).message]).toEqual([
      0,
      'These scopes match no permission: identity.*. Each * matches exactly one segment.',
    ]);
  });

  test('rejects a system application with an invalid id, name or scope', async () => {
    for (const [id, scope, name, named] of [
      ['', SCOPE, 'Pipeline', 'client_id'],
      ['two words', SCOPE, 'Pipeline', 'client_id'],
      ['pipelíne', SCOPE, 'Pipeline', 'client_id'],
      ['nameless', SCOPE, ' ', 'name'],
      ['scopeless', 'identity.tenents.view', 'Pipeline', 'identity.tenents.view'],
      ['scopeless', 'identity.tenants', 'Pipeline', 'such as identity.tenants.list'],
    ] as const) {
      const { code, error } = await admin(['create-system-application', id, scope, '--name', name]);
      expect({ code, error }).toEqual({ code: 1, error: expect.stringContaining(named) });
      expect(await database.systemApplication.count({ where: { clientId: id } })).toBe(0);
    }
  });

  test('creates a confidential client whose secret is shown once and stored as a hash', async () => {
    const clientId = `admin-panel-${uuidv7()}`;
    const uris = ['https://panel.example.com/callback', 'http://127.0.0.1:3000/callback'];
    const args = [
      'create-client',
      clientId,
      '--name',
      'Admin panel',
      '--confidential',
      '--trusted',
      '--first-party',
      ...uris.flatMap((uri) => ['--redirect-uri', uri]),
    ];
    const { code, out } = await admin(['--json', ...args]);
    const { client_secret, ...shown } = JSON.parse(out);
    const stored = await database.oAuthClient.findUniqueOrThrow({ where: { clientId } });
    expect({ code, shown }).toEqual({
      code: 0,
      shown: {
        client_id: clientId,
        redirect_uris: uris,
        is_trusted: true,
        is_first_party: true,
        allowed_scopes: [],
      },
    });
    expect(Buffer.from(stored.secretHash ?? [])).toEqual(digest(client_secret));
    expect(stored).toMatchObject({
      redirectUris: uris,
      isTrusted: true,
      isFirstParty: true,
      tenantId: null,
    });
    expect(await admin(args)).toMatchObject({ code: 1, error: expect.stringContaining('already') });
  });

  test('creates a public client without a secret, which requires consent', async () => {
    const clientId = `mobile-app-${uuidv7()}`;
    const uri = 'com.example.mobile:/callback';
    const args = ['create-client', clientId, '--name', 'Mobile', '--public', '--redirect-uri', uri];
    const { code, out } = await admin(['--json', ...args]);
    expect({ code, shown: JSON.parse(out) }).toEqual({
      code: 0,
      shown: {
        client_id: clientId,
        redirect_uris: [uri],
        is_trusted: false,
        is_first_party: false,
        allowed_scopes: [],
      },
    });
    expect(await database.oAuthClient.findUnique({ where: { clientId } })).toMatchObject({
      secretHash: null,
      isTrusted: false,
      isFirstParty: false,
    });
  });

  test('rejects a client that is both public and confidential, or has an invalid redirect URI or tenant', async () => {
    const create = (...args: string[]) => admin(['create-client', 'panel', '--name', 'P', ...args]);
    const uri = ['--redirect-uri', 'https://panel.example.com/callback'];
    expect((await create(...uri, '--public', '--confidential')).code).toBe(2);
    expect((await create('--public')).code).toBe(2);
    expect((await create(...uri, '--tenant', 'acme', '--first-party')).code).toBe(2);
    for (const [args, named] of [
      [['--redirect-uri', 'http://panel.example.com/callback'], 'panel.example.com'],
      [[...uri, '--tenant', 'nowhere'], 'tenant "nowhere"'],
    ] as const) {
      const { code, error } = await create(...args);
      expect({ code, error }).toEqual({ code: 1, error: expect.stringContaining(named) });
    }
    expect(await database.oAuthClient.findUnique({ where: { clientId: 'panel' } })).toBeNull();
  });

  test('rejects the client id that is reserved for tokens without a client', async () => {
    const uri = ['--redirect-uri', 'https://panel.example.com/callback'];
    const { code, error } = await admin(['create-client', 'first-party', '--name', 'P', ...uri]);
    expect({ code, error }).toEqual({ code: 1, error: expect.stringContaining('reserved') });
  });

  test('publishes the next signing key immediately, which signs ten minutes later', async () => {
    const keys = () => database.signingKey.findMany({ orderBy: { signsFrom: 'asc' } });
    const { code, out } = await admin(['--json', 'rotate-keys']);
    expect(code).toBe(0);
    const { kid, signs_from } = JSON.parse(out);
    const [first, next] = await keys();
    expect([next?.kid, next?.signsFrom.toISOString()]).toEqual([kid, signs_from]);
    expect(+new Date(signs_from) - Date.now()).toBeGreaterThan(9 * 60_000);
    expect(+(first?.signsFrom ?? Infinity)).toBeLessThanOrEqual(Date.now());
    // The maximum lifetime of an API key.
    const published = +(first?.removedAt ?? 0) - +new Date(signs_from);
    expect(published).toBeGreaterThan(365 * 86_400_000);
    expect(next?.removedAt).toBeNull();
  });

  test('rotates the secret of a client, disables it and deletes it', async () => {
    const clientId = `pipeline-${uuidv7()}`;
    const scope = 'identity.tenants.list';
    await admin(['create-system-application', clientId, scope, '--name', 'Pipeline']);
    const rotated = JSON.parse((await admin(['--json', 'rotate-secret', clientId])).out);
    const where = { clientId };
    const stored = await database.systemApplication.findUniqueOrThrow({ where });
    expect(Buffer.from(stored.secretHash)).toEqual(digest(rotated.client_secret));
    expect(stored.previousSecretExpiresAt?.toISOString()).toBe(rotated.previous_secret_expires_at);
    const disabled = await admin(['disable-client', clientId]);
    expect(disabled).toEqual({
      code: 0,
      out: `client_id: ${clientId}\ndisabled: yes\n`,
      error: '',
    });
    const { out } = await admin(['list-system-applications']);
    expect(out).toMatch(
      /^client_id +name +disabled +previous_secret_expires_at +created_at +scope +is_resource_server\n/,
    );
    expect(out).toMatch(new RegExp(`^${clientId} +Pipeline +yes `, 'm'));
    expect((await admin(['delete-client', clientId])).code).toBe(0);
    expect(await database.systemApplication.count({ where })).toBe(0);
  });

  test('shows the signing keys without their private parts', async () => {
    await admin(['rotate-keys']);
    const { out } = await admin(['list-keys', '--json']);
    const [newest] = await database.signingKey.findMany({ orderBy: { signsFrom: 'desc' } });
    expect(JSON.parse(out)[0]).toEqual({
      kid: newest?.kid,
      signs_from: newest?.signsFrom.toISOString(),
      published_until: null,
      retired_at: null,
    });
  });

  test('lets only a failed migration of this release run again', async () => {
    const { code, error } = await admin(['migrate', '--retry', '20250101000000_other']);
    expect({ code, error }).toEqual({
      code: 1,
      error: 'This release has no migration 20250101000000_other.\n',
    });
  });

  test('helps, with examples', async () => {
    const { code, out } = await adminProcess(['--help']);
    const commands = [...out.matchAll(/^ {2}([a-z][a-z-]*) /gm)].map(([, name]) => name);
    expect({ code, commands }).toEqual({
      code: 0,
      commands: [
        'migrate',
        'seed',
        'create-administrator',
        'list-administrators',
        'remove-factor',
        'change-email',
        'create-system-application',
        'create-client',
        'update-client',
        'complete-tenant-clients',
        'list-system-applications',
        'list-clients',
        'rotate-secret',
        'disable-client',
        'enable-client',
        'delete-client',
        'rotate-keys',
        'retire-key',
        'list-keys',
        'reseal',
        'export-tenant',
        'export-user',
        'delete-user',
        'mails',
        'help',
      ],
    });
    expect((await adminProcess(['rotate-secret', '--help'])).out).toContain('Examples:');
  });

  test('exits with 2 for incorrect usage and 1 for a failure, with JSON errors on request', async () => {
    expect(await adminProcess(['sede'])).toMatchObject({
      code: 2,
      error: expect.stringContaining('sede'),
    });
    expect(await adminProcess(['rotate-secret'])).toMatchObject({ code: 2 });
    expect((await adminProcess(['seed'], 'no JSON')).code).toBe(1);
    for (const [args, code, message] of [
      [['rotate-secret', 'nobody'], 1, 'There is no client called nobody.'],
      [['rotate-secret'], 2, "missing required argument 'client_id'"],
      [['sede'], 2, "unknown command 'sede' (Did you mean seed?)"],
      [[], 2, 'a command is missing'],
    ] as const) {
      const { error, ...ended } = await adminProcess(['--json', ...args]);
      expect({ ...ended, error: JSON.parse(error) }).toEqual({
        code,
        out: '',
        error: { error: message },
      });
    }
  });
});
