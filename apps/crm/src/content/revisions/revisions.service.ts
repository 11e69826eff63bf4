import type { Out } from '@tessera/fields';
import { notFound, pageWithin } from '@tessera/http-kit';
import type { TenantDb } from '../../database.ts';
import type { Kind, KindTypes } from '../../records/kind.ts';
import { exactly, offsetOf, type Page } from '../../records/listing.ts';
import type { Records, Versioned } from '../../records/records.ts';
import type { RecordRow } from '../../records/row.ts';
import { createAccess, type TenantSource } from '../../records/scope.ts';
import type { AcceptedVersion } from '../../records/versions.ts';
import { renderBody } from '../rendering.ts';
import { compareTexts } from './compare-texts.ts';
import {
  countChanges,
  type RevisedField,
  type RevisedRecord,
  type RevisedTable,
  type RevisedText,
  type RevisionRow,
  readChanges,
  readCreation,
  readTextAt,
} from './revisions.repository.ts';
import type { Revision, RevisionDiff, RevisionSummary } from './revisions.schema.ts';

type Summary = Out<typeof RevisionSummary>;
type Whole = Out<typeof Revision>;
type Diff = Out<typeof RevisionDiff>;

/** The types of a kind that has revisions. */
export interface RevisedTypes extends KindTypes {
  readonly row: RecordRow & RevisedText & { readonly created_by: string | null };
}

/** A kind of record that has revisions. */
export type RevisedKind<T extends RevisedTypes> = Kind<T> & { readonly table: RevisedTable };

/**
 * The revisions of records of one kind. They are the changes in the history that concern what readers see: nothing is
 * stored for them. 404 unless the caller sees the record and it has the revision.
 */
export interface Revisions<T extends RevisedTypes> {
  /** One page of a record's revisions, newest first. */
  list(
    caller: T['caller'],
    id: string,
    query: { readonly page: number; readonly per_page: number },
  ): Promise<Page<Summary>>;
  get(caller: T['caller'], id: string, number: number): Promise<Whole>;
  /** By default the latest revision with the one before. 429 and 503 as `TextThreads.run`. */
  diff(
    caller: T['caller'],
    id: string,
    between: { readonly from?: number; readonly to?: number },
  ): Promise<Diff>;
  /**
   * Sets these fields to what they were, by an update that the history has as `restore_revision`. If none of them has
   * changed since, nothing is changed.
   */
  restore(
    caller: T['caller'],
    id: string,
    restored: { readonly number: number; readonly fields: readonly RevisedField[] },
    versions?: readonly AcceptedVersion[],
  ): Promise<Versioned<T['answer']>>;
}

const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

const changeOf = <V>(from: V, to: V): { from: V; to: V } | null =>
  isSame(from, to) ? null : { from, to };

const compareTags = (from: readonly string[], to: readonly string[]): Diff['tags'] => {
  const added = to.filter((tag) => !from.includes(tag));
  const removed = from.filter((tag) => !to.includes(tag));
  return added.length + removed.length > 0 ? { added, removed } : null;
};

export const createRevisions = <T extends RevisedTypes>(
  kind: RevisedKind<T>,
  records: Records<T>,
  source: TenantSource,
): Revisions<T> => {
  const access = createAccess(kind, source)();

  /** The record that the caller sees, as it is now. */
  const open = async (
    caller: T['caller'],
    id: string,
  ): Promise<{ readonly db: TenantDb; readonly row: T['row']; readonly record: RevisedRecord }> => {
    const opened = await access.open(caller);
    const row = await access.findLive(opened, id);
    return { db: opened.db, row, record: { table: kind.table, id: row.id } };
  };

  /** The revision that a record was created with. */
  const firstOf = async (
    db: TenantDb,
    row: T['row'],
    record: RevisedRecord,
  ): Promise<RevisionRow> => {
    const created = await readCreation(db, record);
    if (created) return Object.assign({}, created, { changed_fields: [] });
    return {
      version: 1,
      created_at: row.created_at,
      actor_type: row.created_by === null ? 'system' : 'user',
      user_id: row.created_by,
      client_id: null,
      impersonator_id: null,
      changed_fields: [],
    };
  };

  const summaryOf = (row: RevisionRow, number: number, total: number): Summary =>
    Object.assign({}, row, { number, is_current: number === total });

  /** A revision that exists; revision `n` is made by the change `n - 1`. */
  const find = async (
    db: TenantDb,
    row: T['row'],
    record: RevisedRecord,
    number: number,
  ): Promise<RevisionRow> => {
    if (number === 1) return firstOf(db, row, record);
    const [found] = await readChanges(db, record, {
      limit: 1,
      offset: number - 2,
      oldestFirst: true,
    });
    if (!found) throw notFound('The revision');
    return found;
  };

  const textOf = async (
    db: TenantDb,
    record: RevisedRecord,
    { version }: RevisionRow,
  ): Promise<RevisedText> => {
    const text = await readTextAt(db, record, version);
    if (!text) throw access.missing();
    return text;
  };

  return {
    async list(caller, id, { page: asked, per_page: perPage }) {
      const { db, row, record } = await open(caller, id);
      return db.snapshot(async (snapshot) => {
        const total = (await countChanges(snapshot, record)) + 1;
        const page = pageWithin({ page: asked, perPage }, total);
        const offset = offsetOf(page, perPage);
        const rows = await readChanges(snapshot, record, { limit: perPage, offset });
        const isLast = rows.length < perPage;
        const all = isLast ? [...rows, await firstOf(snapshot, row, record)] : rows;
        const summaries = all.map((one, index) => summaryOf(one, total - offset - index, total));
        return exactly({ perPage }, { rows: summaries, page, total });
      });
    },

    async get(caller, id, number) {
      const { db, row, record } = await open(caller, id);
      return db.snapshot(async (snapshot) => {
        const total = (await countChanges(snapshot, record)) + 1;
        const found = await find(snapshot, row, record, number);
        const text = await textOf(snapshot, record, found);
        return Object.assign(summaryOf(found, number, total), text);
      });
    },

    async diff(caller, id, between) {
      const { db, row, record } = await open(caller, id);
      const { from, to, before, after } = await db.snapshot(async (snapshot) => {
        const last = between.to ?? (await countChanges(snapshot, record)) + 1;
        const first = between.from ?? Math.max(last - 1, 1);
        const textAt = async (number: number): Promise<RevisedText> =>
          textOf(snapshot, record, await find(snapshot, row, record, number));
        return { from: first, to: last, before: await textAt(first), after: await textAt(last) };
      });
      return {
        from,
        to,
        title: changeOf(before.title, after.title),
        slug: changeOf(before.slug, after.slug),
        summary: changeOf(before.summary, after.summary),
        tags: compareTags(before.tags, after.tags),
        body:
          before.body === after.body
            ? null
            : await compareTexts(db.tenantId, before.body, after.body),
      };
    },

    async restore(caller, id, { number, fields }, versions) {
      const { db, row, record } = await open(caller, id);
      const text = await db.snapshot(async (snapshot) =>
        textOf(snapshot, record, await find(snapshot, row, record, number)),
      );
      // Before the transaction of the change, which finds it in the cache.
      if (fields.includes('body')) await renderBody(caller.tenantId, text.body);
      return records.edit(
        caller,
        id,
        (current) => {
          const different = fields.filter((field) => !isSame(text[field], current[field]));
          return Object.fromEntries(different.map((field) => [field, text[field]])) as T['update'];
        },
        versions,
        'restore_revision',
      );
    },
  };
};
