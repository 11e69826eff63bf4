import { Prisma } from '../generated/prisma/client.ts';
import type { HiddenHistory } from './history.ts';
import type { Scope } from './kind.ts';
import type { RecordRow } from './row.ts';

const { raw, sql } = Prisma;

/** A reference of a table, and the records that a caller may not see, by which the table's are hidden. */
interface HiddenTargets {
  readonly tenantId: string;
  readonly table: string;
  /** The column of the reference. It needs `keep_count`, so that the totals of lists stay exact. */
  readonly column: string;
  /** The ids of the hidden records, as a subquery; undefined if all are visible. */
  readonly hidden: Prisma.Sql | undefined;
}

/** The scope of the records that refer to none of the hidden records. */
export const outsideHidden = ({
  tenantId,
  table,
  column,
  hidden,
}: HiddenTargets): Pick<Scope<RecordRow>, 'condition' | 'excluded'> => {
  if (!hidden) return {};
  return {
    condition: sql`${raw(column)} IS NULL OR ${raw(column)} NOT IN ${hidden}`,
    excluded: sql`
      SELECT coalesce(sum(count), 0)::int FROM tenant_crm.record_counts
      WHERE tenant_id = ${tenantId}::uuid AND table_name = ${table}
        AND scope_column = ${column} AND scope_id IN ${hidden}`,
  };
};

/** A reference in the history of records, and the records that a caller may see. */
interface VisibleTargets {
  readonly tenantId: string;
  /** The table of the records that are referred to. */
  readonly table: string;
  /** The field of the reference. */
  readonly field: string;
  /** The condition of the visible records; undefined if all are visible. */
  readonly visible: Prisma.Sql | undefined;
}

/** Hides what a record was while it referred to one that the caller may not see. */
export const historyAtVisible = ({
  tenantId,
  table,
  field,
  visible,
}: VisibleTargets): HiddenHistory | undefined =>
  visible && {
    field,
    isVisible: (id) => sql`EXISTS (
      SELECT FROM ${raw(`tenant_crm.${table}`)}
      WHERE tenant_id = ${tenantId}::uuid AND id = ${id} AND (${visible})
    )`,
  };
