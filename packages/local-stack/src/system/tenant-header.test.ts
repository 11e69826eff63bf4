import { startIdentityStub } from '../identity-stub/stub.ts';
import { bodyOf, crmClient, identityClient, statusAndError } from './clients.ts';
import { signIn } from './people.ts';
import { call } from './requests.ts';
import { startTestStack, type TestStack } from './test-stack.ts';
import { systemToken } from './tokens.ts';

let stack: TestStack;

beforeAll(async () => {
  stack = await startTestStack();
  for (const [who, first_name] of [
    ['owner', 'Ágnes'],
    ['other_owner', 'Gerda'],
  ] as const) {
    const token = await signIn(stack, who);
    expect((await createContact(first_name, token)).response.status).toBe(201);
  }
});
afterAll(() => stack?.remove(), 30_000);

const listContacts = (token: string, tenant?: string) =>
  crmClient(stack, token, tenant).GET('/api/crm/contacts');
const createContact = (first_name: string, token: string, tenant?: string) =>
  crmClient(stack, token, tenant).POST('/api/crm/contacts', { body: { first_name } });

/** The names of the contacts that a caller sees. */
const names = async (token: string, tenant?: string): Promise<string[]> =>
  bodyOf(await listContacts(token, tenant)).data.map(({ first_name }) => first_name);
/** The refusal to list contacts. */
const refusal = async (token: string, tenant?: string) =>
  statusAndError(await listContacts(token, tenant));
const FORBIDDEN = [403, 'tenant_forbidden'];

describe('a system application that names a tenant', () => {
  test('reads and creates the records of that tenant, within its scopes', async () => {
    const token = await systemToken(stack);
    expect(await names(token, 'acme')).toEqual(['Ágnes']);
    expect((await createContact('Pipeline', token, 'globex')).response.status).toBe(201);
    expect((await names(token, 'globex')).sort()).toEqual(['Gerda', 'Pipeline']);
  });

  test('may alternate between tenants: what is cached for one is not used for another', async () => {
    const token = await systemToken(stack);
    for (const tenant of ['acme', 'globex', 'acme', 'globex']) {
      const seen = await names(token, tenant);
      expect([tenant, seen.includes('Ágnes'), seen.includes('Gerda')]).toEqual([
        tenant,
        tenant === 'acme',
        tenant === 'globex',
      ]);
      // A cached caller must not help a request that names no tenant or an unknown one.
      expect(await refusal(token)).toEqual(FORBIDDEN);
      expect(await refusal(token, 'initech')).toEqual(FORBIDDEN);
    }
  });

  test('is refused what its scopes do not cover, and the response names the permission', async () => {
    const token = await systemToken(stack, 'tenant.*.crm.contacts.list');
    expect((await listContacts(token, 'acme')).response.status).toBe(200);
    const { response, error } = await createContact('No', token, 'acme');
    expect(response.status).toBe(403);
    expect(error).toMatchObject({
      error: 'service_account_scope_denied',
      required_permission: 'tenant.acme.crm.contacts.create',
    });
  });

  test('gets the same error for a tenant outside its scopes and for an unknown one', async () => {
    const token = await systemToken(stack, 'tenant.acme.crm.contacts.*');
    expect((await listContacts(token, 'acme')).response.status).toBe(200);
    const foreign = await listContacts(token, 'globex');
    const unknown = await listContacts(token, 'initech');
    expect(statusAndError(foreign)).toEqual(FORBIDDEN);
    expect([unknown.response.status, unknown.error]).toEqual([
      foreign.response.status,
      foreign.error,
    ]);
  });

  test.each(['ACME', 'acme, globex', ' ', '../acme', '*', 'á'])(
    '"%s" is no tenant',
    async (tenant) => {
      const token = await systemToken(stack);
      const encoded = Buffer.from(tenant).toString('latin1');
      expect(await refusal(token, encoded)).toEqual(FORBIDDEN);
    },
  );

  test('must name a tenant', async () => {
    const answer = await listContacts(await systemToken(stack));
    expect(statusAndError(answer)).toEqual(FORBIDDEN);
    expect(answer.error?.message).toContain('X-Tenant');
  });
});

describe('a person', () => {
  test('may name only the tenant of the token', async () => {
    const token = await signIn(stack, 'owner');
    expect(await names(token, 'acme')).toEqual(['Ágnes']);
    for (const tenant of ['globex', 'initech']) {
      expect(await refusal(token, tenant)).toEqual(FORBIDDEN);
    }
    expect(await names(token)).toEqual(['Ágnes']);
  });

  test('who is a system administrator may name any existing tenant', async () => {
    const token = await signIn(stack, 'administrator');
    expect(await names(token, 'acme')).toEqual(['Ágnes']);
    expect(await names(token, 'globex')).toContain('Gerda');
    expect(await refusal(token, 'initech')).toEqual(FORBIDDEN);
    expect(await refusal(token)).toEqual(FORBIDDEN);
  });
});

test('a token of the identity stub is accepted neither by identity nor by a CRM that uses it', async () => {
  const stub = await startIdentityStub(0);
  try {
    const { body } = await call('POST', `${stub.url}/oauth/token`);
    const { access_token: token } = body as { access_token: string };
    expect(token.split('.')).toHaveLength(3);
    const unauthenticated = [401, 'unauthenticated'];
    const user = await identityClient(stack, token).GET('/api/user');
    expect(statusAndError(user)).toEqual(unauthenticated);
    expect(await refusal(token)).toEqual(unauthenticated);
    const { keys } = bodyOf(await identityClient(stack).GET('/.well-known/jwks.json'));
    expect(keys.map(({ kid }) => kid)).not.toContain('development-only');
  } finally {
    await stub.stop();
  }
});
