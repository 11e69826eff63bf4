import { randomUUID } from 'node:crypto';
import type { IdentityEvent } from '@tessera/contracts';
import { until } from '@tessera/local-stack';
import { startEvents } from '@tessera/resource-server/testing';
import { startCrm } from '../../testing/crm.ts';
import { endsAccess } from './sender-access.ts';

test('A running import is cancelled when the permissions of its sender change, and others are not', async () => {
  const events = await startEvents();
  const crm = await startCrm({ KAFKA_BROKERS: events.brokers.join(',') });
  try {
    await until(() => crm.context.access.stream() === 'connected');
    const id = randomUUID();
    const headers = crm.caller({ id });
    const send = async (rows: number) => {
      const { body } = await crm.http
        .post('/api/crm/imports')
        .set(headers)
        .field('resource', 'contacts')
        .attach('file', Buffer.from(`first_name\n${'Ada\n'.repeat(rows)}`), {
          filename: 'contacts.csv',
          contentType: 'text/csv',
        })
        .expect(201);
      return body.data.id as string;
    };
    const found = async (one: string) =>
      (await crm.http.get(`/api/crm/imports/${one}`).set(headers)).body.data;
    const finished = await send(1);
    await until(async () => (await found(finished)).status === 'completed');
    const running = await send(30_000);
    const waiting = await send(1);
    await until(async () => (await found(running)).rows_read > 0);
    const change = { tenant_id: crm.identity.acme.id, version: 1, user_ids: [id] };
    await events.publish('identity.policy.updated', change);
    // In either order.
    for (const sent of [waiting, running]) {
      await until(async () => (await found(sent)).status === 'cancelled');
    }
    const cancelled = await found(running);
    expect(cancelled).toMatchObject({
      status: 'cancelled',
      error: 'The permissions of the sender changed. Send the remaining rows again.',
    });
    expect(cancelled.rows_read).toBeLessThan(30_000);
    const { body } = await crm.http.get('/api/crm/contacts').set(headers);
    expect(body.meta.total).toBe(cancelled.rows_created + 1);
    expect((await found(finished)).status).toBe('completed');
  } finally {
    await crm.stop();
    await events.stop();
  }
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
