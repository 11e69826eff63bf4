import { named, shape, time } from '@tessera/fields';
import { Prisma } from '../generated/prisma/client.ts';
import type { Kind, KindTypes } from './kind.ts';

const { sql } = Prisma;

/** The types of the trash of a kind. */
export interface TrashTypes<T extends KindTypes> {
  readonly caller: T['caller'];
  readonly create: object;
  readonly update: object;
  readonly answer: T['item'] & { readonly deleted_at: Date };
  readonly item: T['item'] & { readonly deleted_at: Date };
  readonly row: T['row'];
  readonly sort: 'deleted_at';
  readonly filters: Readonly<Record<never, never>>;
}

/**
 * The deleted records of a kind, for callers who may restore them: only their list is used. `restorable` is a condition for
 * kinds of which some cannot be restored. Needs an index `(tenant_id, [scope,] deleted_at, id) WHERE deleted_at IS NOT
 * NULL`.
 */
export const trashOf = <T extends KindTypes>(
  kind: Kind<T>,
  restorable: (caller: T['caller']) => Prisma.Sql = () => sql`TRUE`,
): Kind<TrashTypes<T>> => {
  const { permissions, item } = kind;
  const remove = permissions?.delete;
  const answer = named(
    `Trashed${kind.answer.json.title}`,
    shape({ ...item.fields, deleted_at: time() }),
  );
  const trash = {
    ...kind,
    path: `${kind.path}/trash`,
    permissions: remove && {
      list: remove,
      view: remove,
      create: remove,
      update: remove,
      delete: remove,
    },
    create: shape({}),
    update: shape({}),
    answer,
    item: answer,
    inputOnly: [],
    sort: { deleted_at: 'deleted_at' },
    defaultSort: '-deleted_at',
    filters: {},
    search: false,
    searchedColumns: undefined,
    alsoSearched: undefined,
    counted: false,
    countedBy: [],
    constraints: {},
    listsDeleted: 'only',
    rules: {},
    follow: undefined,
    scope(caller: T['caller']) {
      const {
        columns,
        condition = sql`TRUE`,
        listCondition = condition,
      } = kind.scope?.(caller) ?? {};
      return {
        ...(columns && { columns }),
        condition: sql`deleted_at IS NOT NULL AND (${listCondition}) AND ${restorable(caller)}`,
      };
    },
  };
  return trash as unknown as Kind<TrashTypes<T>>;
};
