import { randomUUID } from 'node:crypto';
import { until } from '@tessera/local-stack';
import { digest } from '../security/secrets.ts';
import { CodeFlow } from '../testing/code-flow.ts';
import { commandsOf } from '../testing/commands.ts';
import { startIdentity, type TestIdentity } from '../testing/identity.ts';
import type { Bearer } from '../testing/population.ts';
import { expectRefused, present } from '../testing/tokens.ts';

let identity: TestIdentity;
let flow: CodeFlow;
beforeAll(async () => {
  identity = await startIdentity();
  flow = new CodeFlow(identity);
});
afterAll(() => identity.stop());

const done = (...args: string[]) => commandsOf(identity)(...args);

const grant = async (client_id: string, client_secret: string): Promise<number> => {
  const body = { grant_type: 'client_credentials', client_id, client_secret };
  return (await identity.http.post('/api/oauth/token').send(body)).status;
};

const asApplication = async (bearer: Bearer): Promise<number> =>
  (await identity.http.get('/api/user').set(bearer)).status;

/** The published revocations of a client, by reason. */
const toldOf = async (clientId: string): Promise<unknown[]> => {
  const rows = await identity.context.database.outboxEvent.findMany({
    where: { topic: 'identity.token.revoked', key: clientId },
  });
  return rows.map(({ payload }) => (payload as { data: unknown }).data);
};

const SCOPE = 'identity.tenants.versions.update';

/** A user who has signed in to a client with the code flow. */
const someone = async () => {
  const client = await flow.client();
  const user = await identity.people.user({ tenant: await identity.people.tenant() });
  const cookie = await flow.signIn(user);
  return { client, cookie, tokens: await flow.tokens(client, cookie) };
};

describe('identity-admin rotate-secret', () => {
  test('gives a system application a new secret that is valid immediately, while the old one stays valid during the overlap', async () => {
    const { clientId, secret } = await identity.people.application(SCOPE);
    // Every replica has cached the old secret when it changes.
    expect(await grant(clientId, secret)).toBe(200);
    const rotated = await done('rotate-secret', clientId, '--overlap', '24h');
    expect(rotated).toEqual({
      client_id: clientId,
      client_secret: expect.stringMatching(/^[\w-]{43}$/),
      previous_secret_expires_at: expect.any(String),
    });
    const hours = (+new Date(rotated.previous_secret_expires_at) - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(23);
    expect(hours).toBeLessThanOrEqual(24);
    expect(await grant(clientId, rotated.client_secret)).toBe(200);
    expect(await grant(clientId, secret)).toBe(200);
    expect(await grant(clientId, `${secret}x`)).toBe(401);

    await identity.context.database.systemApplication.update({
      where: { clientId },
      data: { previousSecretExpiresAt: new Date() },
    });
    await until(async () => (await grant(clientId, secret)) === 401);
    expect(await grant(clientId, rotated.client_secret)).toBe(200);
  });

  test('keeps only the most recent of the old secrets', async () => {
    const { clientId, secret } = await identity.people.application(SCOPE);
    const second = (await done('rotate-secret', clientId)).client_secret;
    const third = (await done('rotate-secret', clientId)).client_secret;
    expect(await grant(clientId, third)).toBe(200);
    expect(await grant(clientId, second)).toBe(200);
    await until(async () => (await grant(clientId, secret)) === 401);
  });

  test('revokes the old secret and the tokens if they were stolen, and publishes that', async () => {
    const { clientId, secret, bearer } = await identity.people.application(SCOPE);
    expect(await asApplication(bearer)).toBe(200);
    const { client_secret, previous_secret_expires_at } = await done(
      'rotate-secret',
      clientId,
      '--overlap',
      '0',
      '--revoke-tokens',
    );
    expect(previous_secret_expires_at).toBeNull();
    expect(await asApplication(bearer)).toBe(401);
    expect(await grant(clientId, secret)).toBe(401);
    expect(await grant(clientId, client_secret)).toBe(200);
    expect(await toldOf(clientId)).toEqual([{ client_id: clientId, reason: 'secret_rotated' }]);
  });

  test('does not revoke tokens unless requested', async () => {
    const { clientId, bearer } = await identity.people.application(SCOPE);
    await done('rotate-secret', clientId, '--overlap', '0');
    expect(await asApplication(bearer)).toBe(200);
  });

  test('gives a confidential client a new secret, also with an overlap', async () => {
    const { client, tokens } = await someone();
    const { client_secret } = await done('rotate-secret', client.clientId, '--overlap', '30m');
    const renewed = await flow.refresh({ ...client, secret: client_secret }, tokens.refresh_token);
    expect(renewed.status).toBe(200);
    const again = await flow.refresh(client, renewed.body.refresh_token);
    expect(again.status).toBe(200);
    const where = { clientId: client.clientId };
    await identity.context.database.oAuthClient.update({
      where,
      data: { previousSecretExpiresAt: new Date() },
    });
    expect((await flow.refresh(client, again.body.refresh_token)).status).toBe(401);
  });

  test('stores the new secret only as a hash', async () => {
    const { clientId } = await identity.people.application(SCOPE);
    const { client_secret } = await done('rotate-secret', clientId);
    const stored = await identity.context.database.systemApplication.findUniqueOrThrow({
      where: { clientId },
    });
    expect(Buffer.from(stored.secretHash)).toEqual(digest(client_secret));
    const shown = JSON.stringify(await done('list-system-applications'));
    expect(shown).toContain(clientId);
    for (const hash of [stored.secretHash, stored.previousSecretHash ?? []]) {
      for (const encoding of ['hex', 'base64', 'base64url'] as const) {
        expect(shown).not.toContain(Buffer.from(hash).toString(encoding));
      }
    }
    expect(shown).not.toContain(client_secret);
  });

  test('rejects a public client, an unknown client and an invalid overlap', async () => {
    const { clientId } = await flow.client({ isPublic: true });
    await expect(done('rotate-secret', clientId)).rejects.toThrow('public client');
    const nobody = done('rotate-secret', `nobody-${randomUUID()}`);
    await expect(nobody).rejects.toThrow('There is no client called nobody-');
    for (const overlap of ['soon', '24', '-1h', '91d', '1.5h', '']) {
      const wrong = done('rotate-secret', clientId, `--overlap=${overlap}`);
      await expect(wrong).rejects.toThrow('up to 90d');
    }
  });

  test('requires the kind if a client of each kind has the id', async () => {
    const { clientId, secret } = await identity.people.application(SCOPE);
    await identity.context.database.oAuthClient.create({
      data: { clientId, name: 'Namesake', secretHash: new Uint8Array(32), redirectUris: [] },
    });
    await expect(done('rotate-secret', clientId)).rejects.toThrow('--kind');
    await done('rotate-secret', clientId, '--kind', 'client', '--overlap', '0');
    expect(await grant(clientId, secret)).toBe(200);
  });
});

describe('identity-admin disable-client', () => {
  test('rejects a disabled system application and its tokens until it is enabled again', async () => {
    const { clientId, secret, bearer } = await identity.people.application(SCOPE);
    await done('disable-client', clientId);
    expect(await asApplication(bearer)).toBe(401);
    expect(await grant(clientId, secret)).toBe(401);
    expect(await toldOf(clientId)).toContainEqual({
      client_id: clientId,
      reason: 'client_disabled',
    });
    await done('enable-client', clientId);
    expect(await grant(clientId, secret)).toBe(200);
    // Revoked tokens stay revoked.
    expect(await asApplication(bearer)).toBe(401);
  });

  test('revokes the tokens of users of a disabled client, and no other tokens', async () => {
    const { client, cookie, tokens } = await someone();
    const other = await flow.client();
    const others = await flow.tokens(other, cookie);
    await done('disable-client', client.clientId);
    await expectRefused(identity.http, tokens.access_token);
    expect((await flow.refresh(client, tokens.refresh_token)).status).toBe(401);
    await expect(flow.code(client, cookie)).rejects.toThrow('No code');
    expect((await present(identity.http, others.access_token)).status).toBe(200);
    expect((await flow.refresh(other, others.refresh_token)).status).toBe(200);
    const [shown] = (await done('list-clients')).filter(
      ({ client_id }: { client_id: string }) => client_id === client.clientId,
    );
    expect(shown).toMatchObject({ disabled: true });
    await done('enable-client', client.clientId);
    expect((await flow.tokens(client, cookie)).access_token).toEqual(expect.any(String));
  });
});

describe('identity-admin delete-client', () => {
  test('deletes a system application with its tokens', async () => {
    const { clientId, secret, bearer } = await identity.people.application(SCOPE);
    await done('delete-client', clientId);
    expect(await asApplication(bearer)).toBe(401);
    expect(await grant(clientId, secret)).toBe(401);
    const { database } = identity.context;
    expect(await database.systemApplication.count({ where: { clientId } })).toBe(0);
    expect(await database.oAuthArtifact.count({ where: { clientId } })).toBe(0);
    expect(await toldOf(clientId)).toEqual([{ client_id: clientId, reason: 'client_deleted' }]);
    await expect(done('delete-client', clientId)).rejects.toThrow('There is no client');
  });

  test('deletes a client of users with its tokens and consents', async () => {
    const { client, tokens } = await someone();
    await done('delete-client', client.clientId);
    await expectRefused(identity.http, tokens.access_token);
    const { database } = identity.context;
    const where = { clientId: client.clientId };
    expect(await database.oAuthClient.count({ where })).toBe(0);
    expect(await database.oAuthArtifact.count({ where })).toBe(0);
  });
});
