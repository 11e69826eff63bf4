import { type Fields, languageTag, type Out, type Shape, time, uuid } from '@tessera/fields';
import { equals, type Filters, from, has, timeFilters, timeSort, to } from '../records/filters.ts';
import { declareKind, type Kind } from '../records/kind.ts';
import { type HiddenColumns, hidden } from '../records/row.ts';
import type { RecordChange, Rules } from '../records/rules.ts';
import { composeFollow, composeRules, type Follow } from './compose-rules.ts';
import { contentShapes, contentStatus, slug } from './content.schema.ts';
import { contentRules, followSlug, type RuledContent } from './content-rules.ts';
import {
  type ContentResource,
  type ContentShapes,
  type ContentTypes,
  omittedFromLists,
} from './content-types.ts';
import { publicationRules } from './publishing/publishing.rules.ts';

/** The declaration of one kind of content. */
export interface ContentDeclaration<Input extends Fields, Answer extends Fields, Hidden>
  extends Omit<RuledContent, 'resource'> {
  readonly permissions: ContentResource;
  /** Names the schemas and the operations: `KbArticle`. */
  readonly schema: string;
  /** Fields and columns that only this kind has. */
  readonly input: Input;
  readonly answer: Answer;
  readonly hidden: HiddenColumns & { readonly [K in keyof Hidden]: unknown };
  /** Fields of `answer` that are no columns. */
  readonly computed?: { readonly [K in keyof Answer]?: () => unknown };
  readonly sort?: Readonly<Record<string, string>>;
  readonly filters?: Filters;
  /** Rules of this kind, after those of all content. */
  readonly rules?: Rules<ContentTypes<Out<Shape<Input>>, Out<Shape<Answer>>, Hidden & object>>;
  readonly follow?: (
    change: RecordChange<ContentTypes<Out<Shape<Input>>, Out<Shape<Answer>>, Hidden & object>>,
  ) => Promise<void>;
}

/** A kind of content. */
export type ContentKind<T extends ContentTypes = ContentTypes> = Kind<T> & {
  readonly table: RuledContent['table'];
  /** The body of `POST .../translations`. */
  readonly translation: ContentShapes['translation'];
  readonly schema: string;
  readonly resource: ContentResource;
};

/**
 * Declares a kind of content: articles, posts and pages have the same fields, rules and routes. What is added to all of
 * them is added here, in `contentShapes`, `contentRules` and `contentRoutes`.
 */
export const contentKind = <Input extends Fields, Answer extends Fields, Hidden extends object>(
  declaration: ContentDeclaration<Input, Answer, Hidden>,
): ContentKind<ContentTypes<Out<Shape<Input>>, Out<Shape<Answer>>, Hidden>> => {
  const { table, name, permissions, schema, links, input, answer } = declaration;
  const all = contentShapes(schema, { input, answer }) as unknown as ContentShapes;
  const rules = declaration.rules as unknown as Rules<ContentTypes> | undefined;
  const follow = declaration.follow as unknown as Follow<ContentTypes> | undefined;
  const kind = declareKind({
    table,
    name,
    permissions,
    create: all.create,
    update: all.update,
    answer: all.answer,
    // Not in the history, which has the Markdown.
    hidden: {
      slug_follows_title: hidden<boolean>(),
      body_html: hidden<string>(),
      body_text: hidden<string>(),
      ...declaration.hidden,
    },
    omittedFromLists,
    computed: (declaration.computed ?? {}) as Record<never, never>,
    inputOnly: ['translation_of'],
    sort: {
      title: 'sort_title',
      language: 'language',
      published_at: 'published_at',
      ...timeSort,
      ...declaration.sort,
    },
    defaultSort: '-created_at',
    constraints: links.constraints,
    filters: {
      status: equals('status', contentStatus),
      language: equals('language', languageTag()),
      slug: equals('slug', slug),
      tag: links.tag,
      author_id: has('author_ids', uuid()),
      created_by: equals('created_by', uuid()),
      translation_group: equals('translation_group', uuid()),
      published_from: from('published_at', time()),
      published_to: to('published_at', time()),
      ...timeFilters,
      ...declaration.filters,
    },
    search: true,
    searchedColumns: {
      title: { column: 'title' },
      summary: { column: 'summary' },
      tags: { column: 'tags', isList: true },
      body: { column: 'body_text' },
    },
    updateDescription: `Fields that are left out do not change; null clears a field. The state changes by publishing only. A published or scheduled record also requires \`${permissions}.publish\`.`,
    rules: composeRules(
      contentRules(Object.assign({ resource: permissions }, declaration)),
      publicationRules({ table, resource: permissions }),
      rules ?? {},
    ) as never,
    follow: composeFollow<ContentTypes>(
      (change) => followSlug(table, change),
      ...(follow ? [follow] : []),
    ) as never,
  });
  return Object.assign(kind, {
    translation: all.translation,
    schema,
    resource: permissions,
  }) as never;
};
