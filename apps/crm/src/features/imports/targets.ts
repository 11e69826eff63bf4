import type { CrmPermission } from '@tessera/contracts';
import { optional, type Shape, shape } from '@tessera/fields';
import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Caller } from '../../http.ts';
import type { Kind, KindTypes } from '../../records/kind.ts';
import { createRecords, type Records } from '../../records/records.ts';
import { company } from '../companies/companies.kind.ts';
import { contact } from '../contacts/contacts.kind.ts';
import type { ImportableResource, ImportRow } from './imports.kind.ts';

const { sql, raw } = Prisma;

/** The fields that an import changes of a record. */
export interface RecordChange {
  readonly id: string;
  readonly change: object;
}

/** A kind of record that files can be imported into. */
export interface ImportTarget {
  /**
   * What a row of the file must be. A field that the tenant has declared is a field of its own, named like its
   * column in exports: `custom.<key>`. Where rows may update records, it is optional, because they may lack it.
   */
  rowShape(db: TenantDb, duplicates: ImportRow['duplicates']): Promise<Shape>;
  /** The columns of declared fields that a new record requires. */
  requiredOfNew(db: TenantDb): Promise<readonly string[]>;
  /** The field by which a record is known to exist. */
  readonly duplicateField: string;
  /** The permissions to create and to update a record. */
  readonly permissions: { readonly create: CrmPermission; readonly update: CrmPermission };
  /** Live records by the value of their duplicate field; of several with one value, the oldest. */
  findExisting(db: TenantDb, values: readonly string[]): Promise<Map<string, string>>;
  /** Locks records until the transaction ends, in one order. */
  lock(db: TenantDb, caller: Caller, ids: readonly string[]): Promise<void>;
  /** Creates records in one statement, all or none, and returns their ids in the order of the inputs. */
  create(db: TenantDb, caller: Caller, inputs: readonly object[]): Promise<readonly string[]>;
  /** Changes the fields that are given, in one statement, all or none; each record once. */
  update(db: TenantDb, caller: Caller, changes: readonly RecordChange[]): Promise<void>;
}

const targetOf = <T extends KindTypes>(
  kind: Kind<T>,
  resource: ImportableResource,
  duplicateField: keyof T['create'] & string,
): ImportTarget => {
  const { tenantFields } = kind;
  const within = (db: TenantDb): Records<T> => createRecords(kind, { forTenant: () => db });
  const prefix = tenantFields && `${tenantFields.column}.`;

  /** The input of a row, in which the fields that the tenant has declared are apart. */
  const inputOf = (row: object): object => {
    if (!tenantFields || !prefix) return row;
    const [own, declared]: [Record<string, unknown>, Record<string, unknown>] = [{}, {}];
    for (const [name, value] of Object.entries(row)) {
      if (name.startsWith(prefix)) declared[name.slice(prefix.length)] = value;
      else own[name] = value;
    }
    return Object.keys(declared).length > 0 ? { ...own, [tenantFields.column]: declared } : own;
  };

  return {
    duplicateField,

    async rowShape(db, duplicates) {
      if (!tenantFields || !prefix) return kind.create;
      const { [tenantFields.column]: _values, ...own } = kind.create.fields;
      const declared = (await tenantFields.declared(db)).map(
        ({ key, field, isRequired }) =>
          [
            `${prefix}${key}`,
            isRequired && duplicates !== 'update' ? field : optional(field),
          ] as const,
      );
      return shape({ ...own, ...Object.fromEntries(declared) });
    },

    async requiredOfNew(db) {
      if (!tenantFields || !prefix) return [];
      const required = (await tenantFields.declared(db)).filter(({ isRequired }) => isRequired);
      return required.map(({ key }) => `${prefix}${key}`);
    },

    permissions: { create: `${resource}.create`, update: `${resource}.update` },

    async findExisting(db, values) {
      const column = raw(duplicateField);
      // One by one, by index, also before PostgreSQL knows how many rows a table has that an import has just filled.
      const rows = await db.query<{ value: string; id: string }>(sql`
        SELECT given.value, existing.id
        FROM unnest(${values}::text[]) AS given (value)
        CROSS JOIN LATERAL (
          SELECT id FROM ${raw(`tenant_crm.${kind.table}`)}
          WHERE tenant_id = ${db.tenantId}::uuid AND deleted_at IS NULL AND ${column} = given.value
          ORDER BY ${column}, id LIMIT 1
        ) AS existing`);
      return new Map(rows.map(({ value, id }) => [value, id]));
    },

    lock: (db, caller, ids) => within(db).lock(caller, ids),

    create: (db, caller, inputs) =>
      within(db).addMany(caller, inputs.map(inputOf) as T['create'][]),

    update: (db, caller, changes) =>
      within(db).updateMany(
        caller,
        changes.map(({ id, change }) => ({ id, change: inputOf(change) as T['update'] })),
      ),
  };
};

/** The targets of imports by resource. */
export const importTargets: Readonly<Record<ImportableResource, ImportTarget>> = {
  contacts: targetOf(contact, 'contacts', 'email'),
  companies: targetOf(company, 'companies', 'domain'),
};
