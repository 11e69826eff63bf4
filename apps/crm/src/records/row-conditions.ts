import type { TenantDb } from '../database.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { Kind, KindTypes, Scope } from './kind.ts';
import type { RecordRow } from './row.ts';
import { type AcceptedVersion, acceptedCondition } from './versions.ts';

const { sql, join, raw } = Prisma;

/** The state that a row must have to be changed. */
export interface Expected {
  readonly id: string;
  /** Accepted versions; undefined accepts any version. */
  readonly versions?: readonly AcceptedVersion[] | undefined;
  readonly deleted: boolean;
}

/** The conditions for rows of a kind in SQL. All of them are limited to the tenant of `db` and the scope. */
export interface RowConditions<Row extends RecordRow> {
  /** For all rows. */
  within(db: TenantDb, scope: Scope<Row>): Prisma.Sql[];
  /** The same for lists. */
  withinList(db: TenantDb, scope: Scope<Row>): Prisma.Sql[];
  /**
   * For rows with certain keys: `= ...` or `= ANY(...)`. `further` are conditions for these. Ids are looked up in the primary
   * key alone: the planner may expect few rows in another index, such as that of a parent, where one parent has a million.
   */
  withinKeys(
    db: TenantDb,
    scope: Scope<Row>,
    keys: Prisma.Sql,
    further?: readonly Prisma.Sql[],
  ): Prisma.Sql;
  expectedRow(db: TenantDb, scope: Scope<Row>, expected: Expected): Prisma.Sql;
  /** For live rows. */
  readonly undeleted: readonly Prisma.Sql[];
  /** For the rows that lists show. */
  readonly listedOnly: readonly Prisma.Sql[];
}

const equalities = (values: object): Prisma.Sql[] =>
  Object.entries(values).map(([column, value]) => sql`${raw(column)} = ${value}`);

/** Whether one of the conditions holds. */
export const anyOf = (conditions: readonly Prisma.Sql[]): Prisma.Sql =>
  conditions.length > 0 ? join([...conditions], ' OR ') : sql`FALSE`;

/** A condition that no index is used for. */
export const withoutIndex = (condition: Prisma.Sql): Prisma.Sql => sql`(${condition}) IS TRUE`;

export const createRowConditions = <T extends KindTypes>({
  key,
  deletion,
  listsDeleted,
}: Kind<T>): RowConditions<T['row']> => {
  type Row = T['row'];
  const undeleted = deletion === 'soft' ? [sql`deleted_at IS NULL`] : [];
  const ofTenant = ({ tenantId }: TenantDb): Prisma.Sql => sql`tenant_id = ${tenantId}::uuid`;
  // It may contain OR.
  const inParentheses = (condition: Prisma.Sql | undefined): Prisma.Sql[] =>
    condition ? [sql`(${condition})`] : [];

  const within = (db: TenantDb, { columns = {}, condition }: Scope<Row>): Prisma.Sql[] => [
    ofTenant(db),
    ...equalities(columns),
    ...inParentheses(condition),
  ];

  const withinKeys: RowConditions<Row>['withinKeys'] = (
    db,
    { columns = {}, condition },
    keys,
    further = [],
  ) => {
    const others = [...equalities(columns), ...further];
    const all = [
      ofTenant(db),
      sql`${raw(key)} ${keys}`,
      ...(key === 'id' ? others.map(withoutIndex) : others),
      ...inParentheses(condition),
    ];
    return join(all, ' AND ');
  };

  return {
    undeleted,
    listedOnly: listsDeleted ? [] : undeleted,
    within,
    withinKeys,

    withinList(db, scope) {
      const { listCondition } = scope;
      return within(db, listCondition ? { ...scope, condition: listCondition } : scope);
    },

    expectedRow(db, scope, { id, versions, deleted }) {
      const further: Prisma.Sql[] = [];
      if (deletion === 'soft') {
        further.push(deleted ? sql`deleted_at IS NOT NULL` : sql`deleted_at IS NULL`);
      }
      if (versions) further.push(...inParentheses(acceptedCondition(versions)));
      return withinKeys(db, scope, sql`= ${id}`, further);
    },
  };
};
