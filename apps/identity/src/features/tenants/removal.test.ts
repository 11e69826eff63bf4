import type { Tenant } from '../../generated/prisma/client.ts';
import { enqueue, lockPolicyVersion } from '../../outbox/outbox.ts';
import { collide, mustNotWait, renewalOf } from '../../testing/locks.ts';
import { startTenantWorld, type TenantWorld } from '../../testing/tenants.ts';

let world: TenantWorld;
let tenant: Tenant;
beforeAll(async () => {
  world = await startTenantWorld();
});
afterAll(() => world.stop());
beforeEach(async () => {
  tenant = await world.identity.people.tenant({ status: 'active' });
  world.automation.break('deleteDeployment', 404);
});
afterEach(() => world.automation.restore());

const database = () => world.identity.context.database;
const remove = () => world.ask('delete', `/api/tenants/${tenant.id}`);

const expectRemoved = async (answer: PromiseLike<{ status: number }>): Promise<void> => {
  expect((await answer).status).toBe(200);
  expect(await world.stored(tenant)).toBeNull();
  expect(await world.told(tenant)).toEqual(['deleting', 'gone']);
};

describe('the removal of a tenant waits without a deadlock', () => {
  test('for a change of a role or a member', async () => {
    const updated = { tenant_id: tenant.id, version: 2, user_ids: [] };
    const answer = collide(database(), remove, {
      hold: (tx) => lockPolicyVersion(tx, tenant.id),
      async change(tx) {
        await mustNotWait(tx);
        await enqueue(tx, { type: 'identity.policy.updated', data: updated });
      },
    });
    await expectRemoved(answer);
  });

  test('for the renewal of a token', async () => {
    const user = await world.identity.people.user({ tenant });
    await world.identity.people.signIn(user);
    await expectRemoved(collide(database(), remove, renewalOf(user.id)));
    expect(await database().token.count({ where: { userId: user.id } })).toBe(0);
  });

  test('for a switch into the tenant', async () => {
    const user = await world.identity.people.user({ tenant });
    const answer = collide(database(), remove, {
      hold: (tx) => tx.$queryRaw`SELECT 1 FROM identity.memberships
        WHERE user_id = ${user.id}::uuid FOR KEY SHARE`,
      async change(tx) {
        await mustNotWait(tx);
        await tx.user.update({ where: { id: user.id }, data: { tenantId: tenant.id } });
      },
    });
    await expectRemoved(answer);
  });
});

test('a change of a role that waits for the removal of the tenant is 404', async () => {
  const create = () =>
    world
      .ask('post', `/api/tenants/${tenant.id}/roles`)
      .send({ name: 'Late', policies: [{ action: 'identity.members.list', effect: 'allow' }] });
  const answer = await collide(database(), create, {
    hold: (tx) => lockPolicyVersion(tx, tenant.id),
    change: (tx) => tx.tenant.delete({ where: { id: tenant.id } }),
  });
  expect([answer.status, answer.body.error]).toEqual([404, 'not_found']);
});
