import {
  ascending,
  change,
  makeOutbox,
  type TestOutbox,
  versionsByTenant,
} from '../testing/outbox.ts';
import { bumpPolicyVersion, enqueue } from './outbox.ts';

const USER = '01980a5d-b0c1-7d52-9f0e-6a2d7e4c1b93';

let outbox: TestOutbox;
beforeEach(async () => {
  outbox = await makeOutbox();
});
afterEach(() => outbox.close());

/** The events in the order in which the relay publishes them. */
const stored = async (): Promise<string[]> => {
  const rows = await outbox.database.outboxEvent.findMany({ orderBy: { id: 'asc' } });
  return rows.map(({ payload }) => JSON.stringify(payload));
};

describe('the order of ids', () => {
  test('is the order of versions of each tenant, with concurrent writers', async () => {
    const [acme = '', globex = ''] = outbox.tenantIds;
    const work = async (tenantId: string): Promise<void> => {
      for (let i = 0; i < 10; i += 1) await change(outbox.database, tenantId);
    };
    await Promise.all([acme, globex, acme, acme, globex, acme].map(work));
    expect(versionsByTenant(await stored())).toEqual({
      [acme]: ascending(2, 40),
      [globex]: ascending(2, 20),
    });
  });

  test('is also the order of commits for users, which have no version to lock', async () => {
    const committed: string[] = [];
    const revoke = async (reason: string): Promise<void> => {
      await outbox.database.$transaction(async (tx) => {
        await enqueue(tx, { type: 'identity.token.revoked', data: { user_id: USER, reason } });
        // While the lock is held, because responses to COMMIT may arrive in another order.
        committed.push(reason);
        // Holds the lock for a moment, so that the next transaction has to wait.
        await tx.$executeRaw`SELECT pg_sleep(random() * 0.02)`;
      });
    };
    await Promise.all(Array.from({ length: 10 }, (_, i) => revoke(`reason-${i}`)));
    const reasons = (await stored()).map((event) => JSON.parse(event).data.reason);
    expect(reasons).toEqual(committed);
  });

  test('causes no deadlock if transactions publish about several subjects in any order', async () => {
    const [acme = '', globex = ''] = outbox.tenantIds;
    const tell = (...keys: string[]): Promise<void> =>
      outbox.database.$transaction((tx) => {
        const news = keys.map((tenant_id) => {
          const data = { tenant_id, status: 'active' } as const;
          return { type: 'identity.tenant.status_changed', data } as const;
        });
        return enqueue(tx, ...news);
      });
    const both = Array.from({ length: 10 }, (_, i) =>
      i % 2 === 0 ? tell(acme, globex) : tell(globex, acme),
    );
    await Promise.all(both);
    expect(await stored()).toHaveLength(20);
  });
});

describe('an event', () => {
  test('that is not written together with the others of its transaction rolls back its change', async () => {
    const tell = (...keys: string[]): Promise<void> =>
      outbox.database.$transaction(async (tx) => {
        for (const tenant_id of keys) {
          const data = { tenant_id, status: 'active' } as const;
          await enqueue(tx, { type: 'identity.tenant.status_changed', data });
        }
      });
    const [acme = '', globex = ''] = outbox.tenantIds;
    await expect(tell(acme, globex)).rejects.toThrow('in one call');
    expect(await stored()).toEqual([]);
    await tell(acme);
    await tell(globex);
    expect(await stored()).toHaveLength(2);
  });

  test('that is invalid for its kind rolls back its change', async () => {
    const [acme = ''] = outbox.tenantIds;
    const failing = outbox.database.$transaction(async (tx) => {
      await bumpPolicyVersion(tx, acme);
      const data = { tenant_id: 'acme', version: 2, user_ids: null };
      await enqueue(tx, { type: 'identity.policy.updated', data });
    });
    await expect(failing).rejects.toThrow(TypeError);
    expect(await stored()).toEqual([]);
    const { version } = await outbox.database.policyVersion.findUniqueOrThrow({
      where: { tenantId: acme },
    });
    expect(version).toBe(1n);
  });

  test('about an unknown tenant is rejected', async () => {
    const unknown = outbox.database.$transaction((tx) => bumpPolicyVersion(tx, USER));
    await expect(unknown).rejects.toThrow(`Tenant ${USER} has no policy version.`);
  });
});
