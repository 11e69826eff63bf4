import { fileURLToPath } from 'node:url';
import { listen } from '@tessera/http-kit';
import { call, callUntil, signIn, startTestStack, type TestStack } from '@tessera/local-stack';
import { createRooms } from './rooms.ts';

let stack: TestStack;
let url: string;
let stop: () => Promise<void>;

beforeAll(async () => {
  const permissions = fileURLToPath(new URL('permissions.json', import.meta.url));
  stack = await startTestStack({ environmentOf: { identity: { PERMISSIONS_FILE: permissions } } });
  const brokers = [`127.0.0.1:${stack.broker.port}`];
  const { app, resourceServer } = createRooms(stack.identity.url, brokers);
  await resourceServer.start();
  const server = await listen(app, { host: '127.0.0.1', port: 0, variable: 'PORT' });
  ({ url } = server);
  stop = async () => {
    await server.stop(0);
    await resourceServer.stop();
  };
});
afterAll(async () => {
  await stop?.();
  await stack?.remove();
});

const list = (token?: string) => call('GET', `${url}/bookings`, { token });
const book = (token?: string) =>
  call('POST', `${url}/bookings`, { token, body: { room: 'Library' } });
const bookings = (verb: string, slug: string) => ({
  action: `tenant.${slug}.rooms.bookings.${verb}`,
  effect: 'allow',
});
const changeRole = (token: string, role: string) => {
  const { tenant_id, user_id } = stack.system.viewer;
  const member = `${stack.identity.url}/api/tenants/${tenant_id}/members/${user_id}`;
  return call('PUT', member, { token, body: { role } });
};

describe('a second service that uses identity', () => {
  test('rejects requests without a token, and members whose role does not allow them', async () => {
    expect((await list()).status).toBe(401);
    const denied = await list(await signIn(stack, 'viewer'));
    const required_permission = `tenant.${stack.system.viewer.tenant_slug}.rooms.bookings.list`;
    expect([denied.status, denied.body]).toMatchObject([403, { required_permission }]);
  });

  test('applies a granted and a revoked role immediately, without a restart', async () => {
    const owner = await signIn(stack, 'owner');
    const viewer = await signIn(stack, 'viewer');
    expect((await list(viewer)).status).toBe(403);
    for (const [role, status] of [
      ['owner', 201],
      ['viewer', 403],
    ] as const) {
      expect((await changeRole(owner, role)).status).toBe(200);
      await callUntil(
        () => book(viewer),
        (answer) => answer.status === status,
      );
    }
    const listed = await list(owner);
    expect(listed.text).toContain(stack.system.viewer.user_id);
  });

  test('applies a permission of its own that an owner grants to a role', async () => {
    const owner = await signIn(stack, 'owner');
    const viewer = await signIn(stack, 'viewer');
    const { tenant_id, tenant_slug } = stack.system.viewer;
    const created = await call('POST', `${stack.identity.url}/api/tenants/${tenant_id}/roles`, {
      token: owner,
      body: { name: 'Reception', policies: [bookings('list', tenant_slug)] },
    });
    expect([created.status, created.body]).toMatchObject([201, { data: { name: 'Reception' } }]);
    expect((await changeRole(owner, 'Reception')).status).toBe(200);
    await callUntil(
      () => list(viewer),
      (answer) => answer.status === 200,
    );
    expect((await book(viewer)).status).toBe(403);
    const { id } = (created.body as { data: { id: string } }).data;
    const role = `${stack.identity.url}/api/tenants/${tenant_id}/roles/${id}`;
    const policies = [bookings('*', '*')];
    expect((await call('PUT', role, { token: owner, body: { policies } })).status).toBe(200);
    await callUntil(
      () => book(viewer),
      (answer) => answer.status === 201,
    );
    expect((await changeRole(owner, 'viewer')).status).toBe(200);
    await callUntil(
      () => list(viewer),
      (answer) => answer.status === 403,
    );
  });

  test('shows no data of another tenant', async () => {
    expect((await book(await signIn(stack, 'owner'))).status).toBe(201);
    expect((await list(await signIn(stack, 'other_owner'))).body).toEqual([]);
  });
});
