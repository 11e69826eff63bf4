import { builtInRoles } from '@tessera/contracts';
import type { Database } from '../../database.ts';

/** The first of two numbers of an advisory lock; nothing else in this database uses it. */
const LOCK = 0x0b1e;

/**
 * Makes the built-in roles what this release says they are: replicas that start together take turns,
 * and one that finds them as they should be writes nothing.
 */
export const ensureBuiltInRoles = (database: Database): Promise<void> =>
  database.$transaction(async (tx) => {
    await tx.$executeRaw`SELECT pg_advisory_xact_lock(${LOCK}::int, 0)`;
    const stored = await tx.role.findMany({
      where: { tenantId: null },
      include: { policies: true },
    });
    for (const { name, description, policies } of Object.values(builtInRoles)) {
      const known = stored.find((role) => role.name === name);
      const { id } =
        known ?? (await tx.role.create({ data: { name, description, tenantId: null } }));
      const text = (of: readonly { action: string; effect: string }[]): string =>
        JSON.stringify(of.map(({ action, effect }) => `${effect} ${action}`).sort());
      if (known && text(known.policies) === text(policies) && known.description === description)
        continue;
      await tx.role.update({ where: { id }, data: { description } });
      await tx.rolePolicy.deleteMany({ where: { roleId: id } });
      await tx.rolePolicy.createMany({
        data: policies.map((policy) => ({ roleId: id, ...policy })),
      });
    }
  });
