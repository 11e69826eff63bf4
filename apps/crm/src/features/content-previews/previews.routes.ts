import {
  bool,
  described,
  list,
  named,
  nullable,
  omissible,
  rawText,
  shape,
  text,
  time,
} from '@tessera/fields';
import { fileResponse, type RouteTable, whileFound } from '@tessera/http-kit';
import { record, route } from '../../http.ts';
import { withMaximum } from '../../records/maximum.ts';
import { createFrame } from '../../records/route-frame.ts';
import { recordRoutes } from '../../records/routes.ts';
import { creationHeaders } from '../../records/versions.ts';
import { Preview, PreviewInput } from './previews.kind.ts';
import type { PreviewService, PreviewsOfKind } from './previews.service.ts';

/** The path at which previews are served without authentication. */
const PUBLIC_PATH = '/public/previews';

const PreviewWithToken = named(
  'PreviewWithToken',
  shape({
    ...Preview.fields,
    token: described(text(200), 'The secret of the preview. It is not shown again.'),
    path: described(text(300), 'The path at which CRM serves it', `${PUBLIC_PATH}/tcp_article_...`),
  }),
);

const PreviewedRecord = named(
  'PreviewedRecord',
  shape({
    title: text(1000),
    slug: text(500),
    language: text(60),
    summary: nullable(text(10_000)),
    tags: list(text(100)),
    body_html: described(rawText(Number.MAX_SAFE_INTEGER, 0), 'Sanitised HTML'),
    is_published: described(bool(), 'Whether everybody can read the record'),
    updated_at: time(),
    cover_path: described(nullable(text(300)), 'The path of the cover image'),
  }),
);

const previewRoutesOf = (
  { kind, previews, create }: PreviewsOfKind,
  { schema, name }: { readonly schema: string; readonly name: string },
): RouteTable => {
  const routes = recordRoutes(kind, previews);
  const { onAll } = createFrame(kind, previews);
  return {
    [`list${schema}Previews`]: routes.list({ summary: `List the previews of the ${name}` }),

    [`create${schema}Preview`]: route({
      ...onAll('create'),
      method: 'post',
      summary: `Create a preview of the ${name}`,
      description:
        'Everybody who has the link can read the current text until it expires, published or not. It works only while its creator may see the record: it is 404 after they lose the permission, are deactivated or leave the tenant, or after the API key that they used is revoked; while the tenant is suspended; and while the record is deleted. Clients cannot create previews, nor can administrators who act as another user. Only this response contains the token.',
      body: omissible(PreviewInput),
      responses: { 201: record(PreviewWithToken) },
      responseHeaders: { 201: ['ETag', 'Location'] },
      problems: withMaximum(kind),
      // A response to an idempotency key is stored, and a token must not be.
      isIdempotent: false,
      handler: async ({ caller, params, body, req, reply }) => {
        const { token, ...created } = await create(caller, params.id ?? '', body);
        const data = Object.assign({ token, path: `${PUBLIC_PATH}/${token}` }, created.answer);
        return reply(201, { data }, creationHeaders(req, created));
      },
    }),

    [`get${schema}Preview`]: routes.get(),
    [`delete${schema}Preview`]: routes.delete({ summary: `Delete a preview of the ${name}` }),
  };
};

/** The previews of each kind of content. */
export const previewRoutes = (previews: PreviewService) => ({
  articles: previewRoutesOf(previews.articles, { schema: 'KbArticle', name: 'article' }),
  posts: previewRoutesOf(previews.posts, { schema: 'BlogPost', name: 'post' }),
  pages: previewRoutesOf(previews.pages, { schema: 'Page', name: 'page' }),
});

const ended = {
  404: 'The preview does not exist, has expired, or its creator lost access',
} as const;

/** What the routes that serve previews declare: their responses are for those who have the link only. */
const served = {
  method: 'get',
  permission: 'public',
  limit: 'link',
  crossOrigin: 'every',
  params: shape({ token: rawText(200) }),
  headers: { 'X-Robots-Tag': 'noindex, nofollow' },
  problems: ended,
} as const;

/** The routes by which previews are served. */
export const publicPreviewRoutes = ({
  open,
  cover,
}: Pick<PreviewService, 'open' | 'cover'>): RouteTable => ({
  getPreview: route({
    ...served,
    path: `${PUBLIC_PATH}/{token}`,
    summary: 'Read a record by a preview',
    description:
      'Needs no authentication: the token is the only credential. The response is the current text, and must not be stored or indexed.',
    responses: { 200: record(PreviewedRecord) },
    handler: async ({ params: { token }, reply }) => {
      const found = await open(token);
      const data = {
        title: found.title,
        slug: found.slug,
        language: found.language,
        summary: found.summary,
        tags: [...found.tags],
        body_html: found.body_html,
        is_published: found.status === 'published',
        updated_at: found.updated_at,
        cover_path: found.cover_document_id === null ? null : `${PUBLIC_PATH}/${token}/cover`,
      };
      return reply(200, { data });
    },
  }),

  downloadPreviewCover: route({
    ...served,
    path: `${PUBLIC_PATH}/{token}/cover`,
    summary: 'Download the cover image of a record by a preview',
    responses: { 200: fileResponse('image/*') },
    handler: async ({ params: { token }, reply }) =>
      reply(200, await whileFound(() => cover(token)), {
        'Cross-Origin-Resource-Policy': 'cross-origin',
      }),
  }),
});
