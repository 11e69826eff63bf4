import { type BuiltInRole, builtInRoles, builtInRolesRevision } from '@tessera/contracts';
import { advisoryLocks, type Database, type Transaction } from '../../database.ts';
import { enqueue } from '../../outbox/outbox.ts';

const isSame = (
  stored: { description: string; policies: readonly { action: string; effect: string }[] },
  { description, policies }: BuiltInRole,
): boolean => {
  const text = (of: typeof stored.policies): string =>
    JSON.stringify(of.map(({ action, effect }) => `${effect} ${action}`).sort());
  return stored.description === description && text(stored.policies) === text(policies);
};

/** The built-in roles as a release defines them. */
interface Definitions {
  readonly roles: Readonly<Record<string, BuiltInRole>>;
  readonly revision: number;
}

const present: Definitions = { roles: builtInRoles, revision: builtInRolesRevision };

/** Writes built-in roles, unless a later revision is stored; returns the ids of the changed ones. */
const writeRoles = async (tx: Transaction, { roles, revision }: Definitions): Promise<string[]> => {
  const stored = await tx.role.findMany({ where: { tenantId: null }, include: { policies: true } });
  const changed: string[] = [];
  for (const role of Object.values(roles)) {
    const { name, description, policies } = role;
    const known = stored.find((of) => of.name === name);
    if (known && (known.revision ?? 0) > revision) continue;
    const isUnchanged = known !== undefined && isSame(known, role);
    if (isUnchanged && known.revision === revision) continue;
    const { id } = known ?? (await tx.role.create({ data: { name, tenantId: null } }));
    await tx.role.update({ where: { id }, data: { description, revision } });
    if (isUnchanged) continue;
    await tx.rolePolicy.deleteMany({ where: { roleId: id } });
    await tx.rolePolicy.createMany({ data: policies.map((policy) => ({ roleId: id, ...policy })) });
    changed.push(id);
  }
  return changed;
};

/** Publishes a policy update for every tenant in which a member has one of these roles. */
const publishPolicyUpdates = async (tx: Transaction, roleIds: readonly string[]): Promise<void> => {
  const updated = await tx.$queryRaw<{ tenant_id: string; version: bigint }[]>`
    UPDATE identity.policy_versions SET version = version + 1 WHERE tenant_id IN (
      SELECT tenant_id FROM identity.memberships WHERE role_id = ANY (${roleIds}::uuid[]))
    RETURNING tenant_id, version`;
  if (updated.length === 0) return;
  const events = updated.map(({ tenant_id, version }) => ({
    type: 'identity.policy.updated' as const,
    data: { tenant_id, version: Number(version), user_ids: null },
  }));
  await enqueue(tx, ...events);
};

/**
 * Writes the built-in roles of this release and publishes changes of members' permissions. An advisory lock
 * serializes replicas; nothing is written if the roles are up to date or those of a later release.
 */
export const ensureBuiltInRoles = (
  database: Database,
  definitions: Definitions = present,
): Promise<void> =>
  database.$transaction(
    async (tx) => {
      await tx.$executeRaw`SELECT pg_advisory_xact_lock(${advisoryLocks.builtInRoles}::int, 0)`;
      const changed = await writeRoles(tx, definitions);
      if (changed.length > 0) await publishPolicyUpdates(tx, changed);
    },
    { maxWait: 60_000, timeout: 60_000 },
  );
