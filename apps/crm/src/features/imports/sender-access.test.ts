import { randomUUID } from 'node:crypto';
import type { IdentityEvent } from '@tessera/contracts';
import { until } from '@tessera/local-stack';
import {
  type EventSource,
  type Person,
  refusal,
  startEvents,
} from '@tessera/resource-server/testing';
import { type AffectedWork, endsAccess } from '../../absent-callers/access-events.ts';
import { startCrm, type TestCrm } from '../../testing/crm.ts';
import { affectedImports, REVIEWED, type UnfinishedImport } from './affected-imports.repository.ts';

let events: EventSource;
let crm: TestCrm;
beforeAll(async () => {
  events = await startEvents();
});
afterAll(() => events.stop());

const start = async (environment: Record<string, string> = {}): Promise<Person> => {
  crm = await startCrm(environment);
  if (environment.KAFKA_BROKERS) {
    await until(() => crm.context.access.stream() === 'connected');
  }
  return crm.identity.signIn({ policies: everything, tenants: [crm.identity.acme] });
};

const everything = [{ action: 'tenant.*.crm.*.*', effect: 'allow' as const }];

/** Sends a file with as many rows; returns the id of its import. */
const send = async ({ headers }: Person, rows: number): Promise<string> => {
  const { body } = await crm.http
    .post('/api/crm/imports')
    .set(headers)
    .field('resource', 'contacts')
    .attach('file', Buffer.from(`first_name\n${'Ada\n'.repeat(rows)}`), {
      filename: 'contacts.csv',
      contentType: 'text/csv',
    })
    .expect(201);
  return body.data.id;
};

/** An import, as somebody who keeps all permissions sees it. */
const found = async (id: string) =>
  (await crm.http.get(`/api/crm/imports/${id}`).set(crm.caller())).body.data;

const contacts = async (): Promise<number> =>
  (await crm.http.get('/api/crm/contacts').set(crm.caller())).body.meta.total;

const publishChange = (version: number, userIds: string[] | null) =>
  events.publish('identity.policy.updated', {
    tenant_id: crm.identity.acme.id,
    version,
    user_ids: userIds,
  });

const cancelled = {
  status: 'cancelled',
  error: 'The permissions of the sender changed. Send the remaining rows again.',
};

describe('While CRM runs', () => {
  afterEach(() => crm.stop());

  test('A running import is cancelled when its sender loses the permission, and others are not', async () => {
    const ada = await start({ KAFKA_BROKERS: events.brokers.join(',') });
    const finished = await send(ada, 1);
    await until(async () => (await found(finished)).status === 'completed');
    const running = await send(ada, 30_000);
    const waiting = await send(ada, 1);
    await until(async () => (await found(running)).rows_read > 0);
    await publishChange(crm.identity.setPolicies(ada, []), [ada.id]);
    // In either order.
    for (const sent of [waiting, running]) {
      await until(async () => (await found(sent)).status === 'cancelled');
    }
    const ended = await found(running);
    expect(ended).toMatchObject(cancelled);
    expect(ended.rows_read).toBeLessThan(30_000);
    expect(await contacts()).toBe(ended.rows_created + 1);
    expect((await found(finished)).status).toBe('completed');
  });

  test('An import goes on after a change that leaves its sender the permissions that it needs', async () => {
    const ada = await start({ KAFKA_BROKERS: events.brokers.join(',') });
    const id = await send(ada, 30_000);
    await until(async () => (await found(id)).rows_read > 0);
    const asked = crm.identity.rightsRequests;
    const more = [...everything, { action: 'tenant.*.crm.tasks.delete', effect: 'deny' as const }];
    await publishChange(crm.identity.setPolicies(ada, more), null);
    await until(async () => (await found(id)).status === 'completed');
    expect(await contacts()).toBe(30_000);
    expect(crm.identity.rightsRequests).toBeGreaterThan(asked);
  });

  test.each([
    ['goes on', 'completed', everything, 3],
    ['is cancelled, though no event said so,', 'cancelled', [], 0],
  ])('An import waits while identity does not answer, and %s when it does', async (...given) => {
    const [, status, policies, saved] = given;
    const ada = await start();
    crm.identity.intercept('rights', () => refusal(500, 'internal_error'));
    const asked = crm.identity.rightsRequests;
    const id = await send(ada, 3);
    await until(() => crm.identity.rightsRequests > asked);
    expect(await found(id)).toMatchObject({ status: 'running', rows_read: 0 });
    crm.identity.setPolicies(ada, policies);
    crm.identity.restore();
    await until(async () => (await found(id)).status === status);
    expect(await contacts()).toBe(saved);
  });

  test('Without a client at identity, a change of the permissions of the sender cancels an import', async () => {
    const withoutClient = { IDENTITY_CLIENT_ID: '', IDENTITY_CLIENT_SECRET: '' };
    const brokers = { KAFKA_BROKERS: events.brokers.join(',') };
    const ada = await start(Object.assign(brokers, withoutClient));
    const id = await send(ada, 30_000);
    await until(async () => (await found(id)).rows_read > 0);
    await publishChange(crm.identity.setPolicies(ada, everything), [ada.id]);
    await until(async () => (await found(id)).status === 'cancelled');
    expect(await found(id)).toMatchObject(cancelled);
    const { body } = await crm.http
      .get(`/api/crm/imports/${id}/history`)
      .set(crm.caller())
      .expect(200);
    expect(body.data[0]).toMatchObject({
      action: 'cancel',
      actor_type: 'system',
      changes: { error: { from: null, to: cancelled.error } },
    });
  });

  test('An event is compared with the unfinished imports that it may affect only, in batches', async () => {
    await start();
    const { pool, database } = crm.context;
    const [acme, globex] = [crm.identity.acme.id, randomUUID()];
    const sender = randomUUID();
    await pool.query(
      `INSERT INTO tenant_crm.imports
         (tenant_id, id, resource, status, encoding, delimiter, duplicates, dry_run, principal)
       SELECT tenant, gen_random_uuid(), 'contacts', status, 'utf-8', ',', 'skip', false,
         jsonb_build_object('id', CASE WHEN n % 2 = 0 THEN $3 ELSE gen_random_uuid()::text END)
       FROM unnest($1::uuid[]) AS tenant, generate_series(1, $2::int) AS n,
         unnest('{pending,completed}'::text[]) AS status`,
      [[acme, globex], 2 * REVIEWED + 1, sender],
    );
    const read = async (affected: AffectedWork) => {
      const batches: (readonly UnfinishedImport[])[] = [];
      for await (const batch of affectedImports(database, affected)) batches.push(batch);
      return batches;
    };
    const ofTenant = await read({ tenantId: acme, userIds: null });
    expect(ofTenant.map(({ length }) => length)).toEqual([REVIEWED, REVIEWED, 1]);
    expect(new Set(ofTenant.flat().map(({ tenant_id }) => tenant_id))).toEqual(new Set([acme]));
    const ofUser = (await read({ tenantId: globex, userIds: [sender] })).flat();
    expect(ofUser.map(({ principal }) => principal.id)).toEqual(Array(REVIEWED).fill(sender));
    const anywhere = await read({ scheduler: sender });
    expect(anywhere.map(({ length }) => length)).toEqual([REVIEWED, REVIEWED]);
    expect(new Set(anywhere.flat().map(({ id }) => id)).size).toBe(2 * REVIEWED);
    const nobody = await read({ scheduler: randomUUID() });
    expect(nobody).toEqual([]);
  });
});

describe('The sender of an import may have lost access', () => {
  const [tenant_id, user_id, other] = [randomUUID(), randomUUID(), randomUUID()];
  const user = {
    id: user_id,
    type: 'user',
    client_id: 'app',
    token_id: 't1',
    impersonator_id: null,
  } as const;
  const account = { ...user, type: 'service_account' } as const;

  test.each<[boolean, string, Pick<IdentityEvent, 'type' | 'data'>, typeof user | typeof account]>([
    [
      true,
      'their policies',
      { type: 'identity.policy.updated', data: { tenant_id, version: 1, user_ids: [user_id] } },
      user,
    ],
    [
      true,
      'the policies of all',
      { type: 'identity.policy.updated', data: { tenant_id, version: 1, user_ids: null } },
      user,
    ],
    [
      false,
      'the policies of others',
      { type: 'identity.policy.updated', data: { tenant_id, version: 1, user_ids: [other] } },
      user,
    ],
    [
      false,
      'their policies in another tenant',
      {
        type: 'identity.policy.updated',
        data: { tenant_id: other, version: 1, user_ids: [user_id] },
      },
      user,
    ],
    [true, 'their deactivation', { type: 'identity.user.deactivated', data: { user_id } }, user],
    [
      false,
      'the deactivation of others',
      { type: 'identity.user.deactivated', data: { user_id: other } },
      user,
    ],
    [
      true,
      'the suspension of the tenant',
      { type: 'identity.tenant.status_changed', data: { tenant_id, status: 'suspended' } },
      user,
    ],
    [
      false,
      'the activation of the tenant',
      { type: 'identity.tenant.status_changed', data: { tenant_id, status: 'active' } },
      user,
    ],
    [
      true,
      'the revocation of the API key',
      { type: 'identity.token.revoked', data: { token_id: 't1', reason: 'revoked' } },
      account,
    ],
    [
      false,
      'the renewal of their token',
      { type: 'identity.token.revoked', data: { token_id: 't1', reason: 'renewed' } },
      user,
    ],
    [
      false,
      'a sign-out',
      { type: 'identity.token.revoked', data: { user_id, reason: 'logout' } },
      user,
    ],
  ])('%s: after %s', (expected, _what, event, principal) => {
    expect(endsAccess(event as IdentityEvent, { tenant_id, principal })).toBe(expected);
  });
});
