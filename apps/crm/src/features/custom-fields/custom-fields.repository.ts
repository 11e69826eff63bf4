import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { lockUntilEnd } from '../../records/transaction-lock.ts';
import type { FieldType } from './field-types.ts';

const { sql } = Prisma;

/** A declaration of a custom field. */
export interface DeclaredField {
  readonly key: string;
  readonly type: FieldType;
  readonly choices: readonly string[];
  readonly is_required: boolean;
  readonly is_filterable: boolean;
}

/**
 * Locks the tenant's declarations until the transaction ends: those who write values share the lock, those who
 * change declarations need it alone.
 */
export const lockDeclarations = (db: TenantDb, mode: 'shared' | 'exclusive'): Promise<void> =>
  lockUntilEnd(db, `custom_fields ${db.tenantId}`, mode);

/** The declarations that are not deleted, in their order. */
export const declarations = (db: TenantDb): Promise<DeclaredField[]> =>
  db.query(sql`
    SELECT key, type, choices, is_required, is_filterable
    FROM tenant_crm.custom_fields
    WHERE tenant_id = ${db.tenantId}::uuid AND deleted_at IS NULL ORDER BY position, id`);

/**
 * When each of these was declared, as the history has it: `created_at` is of the clock of a process, by which the first
 * values of the field may seem older than the field.
 */
export const declaredSince = async (db: TenantDb): Promise<ReadonlyMap<string, Date>> => {
  const rows = await db.query<{ key: string; since: Date }>(sql`
    SELECT key, coalesce((
      SELECT min(changed_at) FROM tenant_crm.record_changes
      WHERE tenant_id = ${db.tenantId}::uuid AND table_name = 'custom_fields'
        AND record_id = field.id AND action = 'create'
    ), created_at) AS since
    FROM tenant_crm.custom_fields AS field
    WHERE tenant_id = ${db.tenantId}::uuid AND deleted_at IS NULL`);
  return new Map(rows.map(({ key, since }) => [key, since]));
};

/** The keys of these declarations, separated by commas. */
export const declaredKeys = (tenantId: string): Prisma.Sql => sql`(
  SELECT string_agg(key, ',' ORDER BY position, id) FROM tenant_crm.custom_fields
  WHERE tenant_id = ${tenantId}::uuid AND deleted_at IS NULL
)`;

/**
 * Removes the values of a field from those of the next `limit` contacts, in the order of their ids, that have one. Returns
 * the last id; undefined if there are no more contacts.
 */
export const removeNextValues = async (
  db: TenantDb,
  key: string,
  { after, limit }: { readonly after: string | undefined; readonly limit: number },
): Promise<string | undefined> => {
  const beyond = after === undefined ? Prisma.empty : sql`AND id > ${after}::uuid`;
  const [last] = await db.query<{ id: string }>(sql`
    WITH next AS MATERIALIZED (
      SELECT id, jsonb_exists(custom, ${key}::text) AS has_value FROM tenant_crm.contacts
      WHERE tenant_id = ${db.tenantId}::uuid ${beyond} ORDER BY id LIMIT ${limit}
    ), changed AS (
      UPDATE tenant_crm.contacts SET custom = custom - ${key}::text, version = version + 1
      WHERE tenant_id = ${db.tenantId}::uuid AND id = ANY(ARRAY(
        SELECT id FROM tenant_crm.contacts
        WHERE tenant_id = ${db.tenantId}::uuid AND id = ANY(ARRAY(SELECT id FROM next WHERE has_value))
        ORDER BY id FOR NO KEY UPDATE
      ))
    )
    SELECT id FROM next ORDER BY id DESC LIMIT 1`);
  return last?.id;
};

/** The id of the deleted declaration with this key; undefined if there is none. */
export const deletedDeclaration = async (
  db: TenantDb,
  key: string,
): Promise<string | undefined> => {
  const [field] = await db.query<{ id: string }>(sql`
    SELECT id FROM tenant_crm.custom_fields
    WHERE tenant_id = ${db.tenantId}::uuid AND key = ${key} AND deleted_at IS NOT NULL`);
  return field?.id;
};

/** Keeps a deleted declaration until the transaction ends; returns whether it is still there. */
export const keepDeclaration = async (transaction: TenantDb, id: string): Promise<boolean> => {
  const fields = await transaction.query(sql`
    SELECT id FROM tenant_crm.custom_fields
    WHERE tenant_id = ${transaction.tenantId}::uuid AND id = ${id}::uuid FOR KEY SHARE`);
  return fields.length > 0;
};

/** Removes a deleted declaration, which frees its key; returns whether it was still there. */
export const forgetDeclaration = async (db: TenantDb, id: string): Promise<boolean> => {
  const fields = await db.query(sql`
    DELETE FROM tenant_crm.custom_fields
    WHERE tenant_id = ${db.tenantId}::uuid AND id = ${id}::uuid RETURNING id`);
  return fields.length > 0;
};
