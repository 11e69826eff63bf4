import {
  described,
  type Fields,
  named,
  nullable,
  type Out,
  type Shape,
  shape,
  time,
} from '@tessera/fields';
import { Prisma } from '../generated/prisma/client.ts';
import { completedRecords } from './completed-records.ts';
import { Deleter, readDeleters } from './deletions.ts';
import type { Kind, KindTypes } from './kind.ts';
import { createRecords, type Records } from './records.ts';
import { keysOf } from './replays.ts';
import type { TenantSource } from './scope.ts';
import { RecordReference } from './viewing.ts';

const { sql } = Prisma;

const TrashFields = {
  deleted_at: time(),
  deleted_by: described(
    nullable(Deleter),
    'Who deleted it; null if that was before the history of the record began',
  ),
} as const;

type Trashed<T extends KindTypes, F extends Fields> = T['item'] &
  Out<Shape<typeof TrashFields>> &
  Out<Shape<F>>;

/** The types of the trash of a kind. */
export interface TrashTypes<T extends KindTypes, F extends Fields = Fields> {
  readonly caller: T['caller'];
  readonly create: object;
  readonly update: object;
  readonly answer: Trashed<T, F>;
  readonly item: Trashed<T, F>;
  readonly row: T['row'];
  readonly sort: 'deleted_at';
  readonly filters: Readonly<Record<never, never>>;
}

/** What a trash does not show, or shows besides. */
interface TrashOptions<T extends KindTypes, F extends Fields> {
  /** The condition for records that can be restored, and by the caller. Default: all. */
  restorable?(caller: T['caller']): Prisma.Sql;
  readonly fields?: F;
  readonly computed?: { readonly [K in keyof F]: (row: T['row']) => unknown };
}

/**
 * The deleted records of a kind, for callers who may restore them: only their list is used. Callers who may not view them
 * see their ids. Needs an index `(tenant_id, [scope,] deleted_at, id) WHERE deleted_at IS NOT NULL`.
 */
export const trashOf = <T extends KindTypes, F extends Fields = Record<never, never>>(
  kind: Kind<T>,
  { restorable = () => sql`TRUE`, fields, computed }: TrashOptions<T, F> = {},
): Kind<TrashTypes<T, F>> => {
  const { permissions, item } = kind;
  const { passages, ...shown } = item.fields;
  const answer = named(
    `Trashed${kind.answer.json.title}`,
    shape({ ...shown, ...TrashFields, ...fields }),
  );
  const trash = {
    ...kind,
    path: `${kind.path}/trash`,
    permissions: permissions && { ...permissions, list: permissions.delete },
    create: shape({}),
    update: shape({}),
    answer,
    item: answer,
    computed: { ...kind.computed, deleted_by: () => null, ...computed },
    computedInSql: {},
    inputOnly: [],
    sort: { deleted_at: 'deleted_at' },
    defaultSort: '-deleted_at',
    filters: {},
    searchedColumns: undefined,
    alsoSearched: undefined,
    counted: false,
    countedBy: [],
    constraints: {},
    listsDeleted: 'only',
    rules: {},
    follow: undefined,
    scope(caller: T['caller']) {
      const { columns, condition = sql`TRUE` } = kind.scope?.(caller) ?? {};
      return {
        ...(columns && { columns }),
        condition: sql`deleted_at IS NOT NULL AND (${condition}) AND ${restorable(caller)}`,
      };
    },
  };
  return trash as unknown as Kind<TrashTypes<T, F>>;
};

/** The records in a trash, with who deleted them. */
export const createTrash = <T extends KindTypes, F extends Fields>(
  trash: Kind<TrashTypes<T, F>>,
  source: TenantSource,
): Records<TrashTypes<T, F>> =>
  completedRecords(createRecords(trash, source), {
    async complete({ tenantId }, answers) {
      // Those that the caller may not view stay as they are.
      if (answers.some(RecordReference.is)) return [...answers];
      const ids = keysOf(trash, answers);
      const deleters = await readDeleters(source.forTenant(tenantId), trash.table, ids);
      return answers.map((answer, index) =>
        Object.assign({}, answer, { deleted_by: deleters.get(ids[index] ?? '') ?? null }),
      );
    },
  });
