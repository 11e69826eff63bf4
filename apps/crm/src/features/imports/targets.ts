import type { CrmPermission } from '@tessera/contracts';
import {
  anything,
  clearable,
  type FieldErrors,
  optional,
  type Shape,
  shape,
  validate,
} from '@tessera/fields';
import type { TenantDb } from '../../database.ts';
import type { Caller } from '../../http.ts';
import type { Kind, KindTypes } from '../../records/kind.ts';
import { createRecords, type Records } from '../../records/records.ts';
import { company } from '../companies/companies.kind.ts';
import { hasDomain } from '../companies/domain-filter.ts';
import { contact } from '../contacts/contacts.kind.ts';
import { hasFurtherEmail } from '../contacts/email-filter.ts';
import { findMatches, type Identity, type Matches, type RowKeys } from './existing-records.ts';
import type { ImportableResource, ImportRow } from './imports.kind.ts';
import type { RowFields } from './row-reader.ts';

/** The fields that an import changes of a record. */
export interface RecordChange {
  readonly id: string;
  readonly change: object;
}

/** What is wrong with a row as a new record. */
export type NewRecordCheck = (row: RowFields) => FieldErrors;

/** A kind of record that files can be imported into. */
export interface ImportTarget {
  /**
   * What a row of the file must be. A field that the tenant has declared is a field of its own, named like its
   * column in exports: `custom.<key>`. Where rows may be those of records, it is optional and may have an earlier value,
   * because the records may be from before the declaration. Where rows may update records, the other fields are optional, too.
   * `id` may be anything: it is that of a record only if there is one.
   */
  rowShape(db: TenantDb, duplicates: ImportRow['duplicates']): Promise<Shape>;
  /**
   * Returns a function that says what is wrong with a row of `rowShape` if it becomes a new record. It finds at once what the
   * creation would reject; to find such rows there, a batch has to be saved in many parts.
   */
  newRecordCheck(db: TenantDb): Promise<NewRecordCheck>;
  /** What records are recognised by. */
  readonly identity: Identity;
  /** Why a row fails that several records match. */
  readonly severalMessage: string;
  /** The permissions to create and to update a record. */
  readonly permissions: { readonly create: CrmPermission; readonly update: CrmPermission };
  /** Finds the live records of rows. */
  findExisting(db: TenantDb, keys: readonly RowKeys[]): Promise<Matches>;
  /** Locks records until the transaction ends, in one order. */
  lock(db: TenantDb, caller: Caller, ids: readonly string[]): Promise<void>;
  /** Creates records in one statement, all or none, and returns their ids in the order of the inputs. */
  create(db: TenantDb, caller: Caller, inputs: readonly object[]): Promise<readonly string[]>;
  /**
   * Changes the fields that are given, in one statement, all or none; each record once. Returns the ids of the records that
   * did not have these values already.
   */
  update(
    db: TenantDb,
    caller: Caller,
    changes: readonly RecordChange[],
  ): Promise<readonly string[]>;
}

const targetOf = <T extends KindTypes>(
  kind: Kind<T>,
  resource: ImportableResource,
  {
    severalMessage,
    ...identifiedBy
  }: Omit<Identity, 'table'> & Pick<ImportTarget, 'severalMessage'>,
): ImportTarget => {
  const { tenantFields } = kind;
  const within = (db: TenantDb): Records<T> => createRecords(kind, { forTenant: () => db });
  const prefix = tenantFields && `${tenantFields.column}.`;
  const identity: Identity = { table: kind.table, ...identifiedBy };
  const id = optional(anything());
  const ownRequired = Object.entries(kind.create.fields).flatMap(([name, { absent }]) =>
    absent ? [] : [name],
  );

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
    identity,
    severalMessage,

    async rowShape(db, duplicates) {
      const own = Object.entries(kind.create.fields)
        .filter(([name]) => name !== tenantFields?.column)
        .map(([name, field]) => {
          // An update leaves what the file does not say; new records are checked when it is known which rows they are.
          const isLeftOut = duplicates === 'update' && !field.absent;
          return [name, isLeftOut ? optional(field) : field] as const;
        });
      const declared = ((await tenantFields?.declared(db)) ?? []).map(
        ({ key, field, filter = field, isRequired }) => {
          // An existing record may have an earlier value, or lose it; others are refused where they are stored.
          if (duplicates !== 'create') return [`${prefix}${key}`, clearable(filter)] as const;
          return [`${prefix}${key}`, isRequired ? field : optional(field)] as const;
        },
      );
      return shape(Object.fromEntries([...own, ...declared, ['id', id]]));
    },

    async newRecordCheck(db) {
      const declared = (await tenantFields?.declared(db)) ?? [];
      return (row) => {
        const errors: FieldErrors = {};
        const require = (name: string): void => {
          errors[name] = [`${name} is required`];
        };
        for (const name of ownRequired) if (row[name] === undefined) require(name);
        for (const { key, field, isRequired } of declared) {
          const name = `${prefix}${key}`;
          const { [name]: value } = row;
          if (value === undefined || value === null) {
            if (isRequired) require(name);
            continue;
          }
          const checked = validate(field, value, name);
          if (!checked.ok) Object.assign(errors, checked.errors);
        }
        return errors;
      };
    },

    permissions: { create: `${resource}.create`, update: `${resource}.update` },

    findExisting: (db, keys) => findMatches(db, identity, keys),

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

interface LabelledEmail {
  readonly email: string;
}

/** As `tenant_crm.domain_key`, of a domain in lower case. */
const domainKey = (domain: string): string => domain.replace(/^www\./, '');

/** The targets of imports by resource. */
export const importTargets: Readonly<Record<ImportableResource, ImportTarget>> = {
  contacts: targetOf(contact, 'contacts', {
    field: 'email',
    alsoIn: ['emails'],
    isAlso: hasFurtherEmail,
    alsoKeyOf: (value) => value,
    alsoKeysOfRecord: ({ emails = [] }) =>
      (emails as readonly LabelledEmail[]).map(({ email }) => email),
    severalMessage: 'email is that of several contacts: add a column "id" with the id of one',
  }),
  companies: targetOf(company, 'companies', {
    field: 'domain',
    alsoIn: [],
    isAlso: hasDomain,
    alsoKeyOf: domainKey,
    alsoKeysOfRecord: ({ domain }) => (typeof domain === 'string' ? [domainKey(domain)] : []),
    severalMessage: 'domain is that of several companies: add a column "id" with the id of one',
  }),
};
