import { type BuiltInRole, builtInRoles } from '@tessera/contracts';
import type { Database, Transaction } from '../../database.ts';
import { enqueue } from '../../outbox/outbox.ts';

/** The first of two numbers of an advisory lock; nothing else in this database uses it. */
const LOCK = 0x0b1e;

const isSame = (
  stored: { description: string; policies: readonly { action: string; effect: string }[] },
  { description, policies }: BuiltInRole,
): boolean => {
  const text = (of: typeof stored.policies): string =>
    JSON.stringify(of.map(({ action, effect }) => `${effect} ${action}`).sort());
  return stored.description === description && text(stored.policies) === text(policies);
};

/** Makes the roles what this release says they are; gives the ids of those that had to be changed. */
const writeRoles = async (tx: Transaction): Promise<string[]> => {
  const stored = await tx.role.findMany({ where: { tenantId: null }, include: { policies: true } });
  const changed: string[] = [];
  for (const role of Object.values(builtInRoles)) {
    const { name, description, policies } = role;
    const known = stored.find((of) => of.name === name);
    if (known && isSame(known, role)) continue;
    const { id } = known ?? (await tx.role.create({ data: { name, tenantId: null } }));
    await tx.role.update({ where: { id }, data: { description } });
    await tx.rolePolicy.deleteMany({ where: { roleId: id } });
    await tx.rolePolicy.createMany({ data: policies.map((policy) => ({ roleId: id, ...policy })) });
    changed.push(id);
  }
  return changed;
};

/** Tells the services of every tenant where somebody has one of these roles. */
const tellTenants = async (tx: Transaction, roleIds: readonly string[]): Promise<void> => {
  const raised = await tx.$queryRaw<{ tenant_id: string; version: bigint }[]>`
    UPDATE identity.policy_versions SET version = version + 1 WHERE tenant_id IN (
      SELECT tenant_id FROM identity.memberships WHERE role_id = ANY (${roleIds}::uuid[]))
    RETURNING tenant_id, version`;
  if (raised.length === 0) return;
  const news = raised.map(({ tenant_id, version }) => ({
    type: 'identity.policy.updated' as const,
    data: { tenant_id, version: Number(version), user_ids: null },
  }));
  await enqueue(tx, ...news);
};

/**
 * Makes the built-in roles what this release says they are, and tells where that changes what members
 * may do. Replicas that start together take turns; one that finds all as it should be writes nothing.
 */
export const ensureBuiltInRoles = (database: Database): Promise<void> =>
  database.$transaction(
    async (tx) => {
      await tx.$executeRaw`SELECT pg_advisory_xact_lock(${LOCK}::int, 0)`;
      const changed = await writeRoles(tx);
      if (changed.length > 0) await tellTenants(tx, changed);
    },
    { maxWait: 60_000, timeout: 60_000 },
  );
