import { HttpError, invalidField } from '@tessera/http-kit';
import type { TenantDb } from '../database.ts';
import { requirePermission } from '../records/require-permission.ts';
import type { CreationContext, RecordChange, RowContext, Rules } from '../records/rules.ts';
import type { ContentLinks, ContentResource, ContentTable, ContentTypes } from './content-types.ts';
import { renderBody } from './rendering.ts';
import { freeSlug, keepSlug, recordSlug, type SlugSpace } from './slugs.repository.ts';
import { slugOf } from './slugs.ts';
import { groupOf, isTranslated, lockTranslations } from './translations.repository.ts';

type Types = ContentTypes;

/** What the rules of a kind of content need to know about it. */
export interface RuledContent {
  readonly table: ContentTable;
  /** The name of one record in messages, and its slug if the title has nothing to make one from. */
  readonly name: string;
  /** Its resource in the names of permissions. */
  readonly resource: ContentResource;
  readonly links: ContentLinks;
}

/** A slug that is free: the given one, which is a 422 if it is taken, or one derived from the title. */
const chooseSlug = async (
  db: TenantDb,
  { name }: RuledContent,
  space: SlugSpace,
  { slug, title }: { readonly slug?: string | undefined; readonly title: string },
): Promise<string> => {
  const wanted = slug ?? slugOf(title, space.language, name.replaceAll(' ', '-'));
  const free = await freeSlug(db, space, wanted);
  if (slug !== undefined && free !== slug) {
    throw invalidField('slug', `slug is already used by another ${name} in this language`);
  }
  return free;
};

/** The group of the record that a new one translates; 422 unless it exists and lacks the language. */
const groupToJoin = async (
  db: TenantDb,
  { table, name }: RuledContent,
  original: string,
  language: string,
): Promise<string> => {
  const group = await groupOf(db, table, original);
  if (group === undefined) {
    throw invalidField('translation_of', `translation_of must be the id of an existing ${name}`);
  }
  await lockTranslations(db, table, group);
  if (await isTranslated(db, table, { translation_group: group, language })) {
    throw invalidField('language', `language must differ from those of the other translations`);
  }
  return group;
};

const createContent = async (
  kind: RuledContent,
  input: Types['create'],
  { caller, db, id }: CreationContext<Types>,
) => {
  const { table, links } = kind;
  const language = input.language ?? (await links.defaultLanguage(db));
  const { translation_of: original, cover_document_id: cover } = input;
  if (cover) await links.requireCover(db, caller, cover);
  const group = original === undefined ? id : await groupToJoin(db, kind, original, language);
  const author = caller.userUuid;
  return Object.assign({}, await renderBody(db.tenantId, input.body), {
    language,
    translation_group: group,
    slug: await chooseSlug(db, kind, { table, language, id }, input),
    slug_follows_title: input.slug === undefined,
    author_ids: input.author_ids ?? (author === null ? [] : [author]),
    created_by: author,
  });
};

/** The columns of the slug after an update. */
const slugAfter = async (
  kind: RuledContent,
  change: Types['update'],
  { db, row }: RowContext<Types>,
): Promise<Partial<Pick<Types['row'], 'slug' | 'slug_follows_title'>>> => {
  const { language = row.language, title = row.title } = change;
  const space = { table: kind.table, language, id: row.id };
  const isGiven = change.slug !== undefined && change.slug !== row.slug;
  if (isGiven) {
    const slug = await chooseSlug(db, kind, space, { slug: change.slug, title });
    return { slug, slug_follows_title: false };
  }
  const isOther = title !== row.title || language !== row.language;
  const follows = row.slug_follows_title && change.slug === undefined && isOther;
  if (follows) return { slug: await chooseSlug(db, kind, space, { title }) };
  if (language === row.language) return {};
  return { slug: await chooseSlug(db, kind, space, { slug: row.slug, title }) };
};

const updateContent = async (
  kind: RuledContent,
  change: Types['update'],
  context: RowContext<Types>,
) => {
  const { caller, db, row } = context;
  const { cover_document_id: cover, body } = change;
  if (cover && cover !== row.cover_document_id) await kind.links.requireCover(db, caller, cover);
  if (change.language !== undefined && change.language !== row.language) {
    await lockTranslations(db, kind.table, row.translation_group);
  }
  const isRendered = body !== undefined && body !== row.body;
  return Object.assign(
    {},
    isRendered ? await renderBody(db.tenantId, body) : {},
    await slugAfter(kind, change, context),
  );
};

/** A restored record gets another slug if its own is taken; 409 if its language is. */
const restoreContent = async (kind: RuledContent, { db, row }: RowContext<Types>) => {
  const { table, name } = kind;
  await lockTranslations(db, table, row.translation_group);
  if (await isTranslated(db, table, row)) {
    const message = `Another ${name} has become the translation into this language.`;
    throw new HttpError(409, 'conflict', message);
  }
  return { slug: await freeSlug(db, { table, language: row.language, id: row.id }, row.slug) };
};

/** 403 if the record is published, or will be, and the caller may not publish: the public reads what is changed. */
export const requireChangeable = (
  { name, resource }: Pick<RuledContent, 'name' | 'resource'>,
  {
    caller,
    row,
  }: Pick<RowContext<Types>, 'caller'> & {
    readonly row: Pick<Types['row'], 'id' | 'status'>;
  },
): void => {
  if (row.status !== 'published' && row.status !== 'scheduled') return;
  requirePermission(caller, `${resource}.publish`, { type: name, id: row.id });
};

/** The rules of every kind of content. */
export const contentRules = (kind: RuledContent): Rules<Types> => ({
  create: (input, context) => createContent(kind, input, context),
  update: (change, context) => {
    requireChangeable(kind, context);
    return updateContent(kind, change, context);
  },
  async delete(context) {
    requireChangeable(kind, context);
  },
  restore: (context) => restoreContent(kind, context),
});

/**
 * Adds each slug that a record has while it is published to those that it has had, and keeps it. Those of a draft were never
 * public: they must not lead to the record.
 */
export const followSlug = async (
  table: ContentTable,
  { db, before, row }: RecordChange<Types>,
): Promise<void> => {
  if (row.status !== 'published') return;
  const { id, language, slug } = row;
  const space = { table, language, id };
  const isRecorded =
    before?.status === 'published' && slug === before.slug && language === before.language;
  if (!isRecorded) await recordSlug(db, space, slug);
  if (row.slug_follows_title) await keepSlug(db, space);
};
