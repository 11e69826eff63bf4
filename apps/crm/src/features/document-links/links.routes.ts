import { described, named, omissible, rawText, shape, text } from '@tessera/fields';
import { fileResponse, type RouteTable, whileFound } from '@tessera/http-kit';
import { record, route } from '../../http.ts';
import { withMaximum } from '../../records/maximum.ts';
import { createFrame } from '../../records/route-frame.ts';
import { recordRoutes } from '../../records/routes.ts';
import { creationHeaders } from '../../records/versions.ts';
import { documentLink, Link, LinkInput } from './links.kind.ts';
import type { LinkService } from './links.service.ts';

/** The path at which links are served without authentication. */
const PUBLIC_PATH = '/public/links';

const LinkWithToken = named(
  'DocumentLinkWithToken',
  shape({
    ...Link.fields,
    token: described(text(200), 'The secret of the link. It is not shown again.'),
    path: described(
      text(300),
      'The path at which CRM serves the document',
      `${PUBLIC_PATH}/tcl_...`,
    ),
  }),
);

export const linkRoutes = ({ links, create }: LinkService): RouteTable => {
  const routes = recordRoutes(documentLink, links);
  const { onAll } = createFrame(documentLink, links);
  return {
    listDocumentLinks: routes.list({ summary: 'List the links to a document' }),

    createDocumentLink: route({
      ...onAll('create'),
      method: 'post',
      summary: 'Create a link to a document',
      description:
        'Everybody who has the link can download the document until it expires. It works only while its creator may see the document: it is 404 after they lose `documents.view` or access to the folder, are deactivated or leave the tenant, or after the API key that they used is revoked; while the tenant is suspended; and if the document is deleted or infected. Clients cannot create links, nor can administrators who act as another user. Only this response contains the token.',
      body: omissible(LinkInput),
      responses: { 201: record(LinkWithToken) },
      responseHeaders: { 201: ['ETag', 'Location'] },
      problems: withMaximum(documentLink),
      // A response to an idempotency key is stored, and a token must not be.
      isIdempotent: false,
      handler: async ({ caller, params, body, req, reply }) => {
        const { token, ...created } = await create(caller, params.id ?? '', body);
        const data = Object.assign({ token, path: `${PUBLIC_PATH}/${token}` }, created.answer);
        return reply(201, { data }, creationHeaders(req, created));
      },
    }),

    getDocumentLink: routes.get(),
    deleteDocumentLink: routes.delete({ summary: 'Delete a link to a document' }),
  };
};

/** The route by which links are served. */
export const publicLinkRoutes = ({ open }: Pick<LinkService, 'open'>): RouteTable => ({
  downloadDocumentLink: route({
    method: 'get',
    path: `${PUBLIC_PATH}/{token}`,
    permission: 'public',
    limit: 'link',
    summary: 'Download a document by a link',
    description:
      'Needs no authentication: the token is the only credential. Unknown, expired and deleted links, and links whose creator lost access, get the same response.',
    params: shape({ token: rawText(200) }),
    responses: { 200: fileResponse('*/*') },
    problems: {
      404: 'The link does not exist, has expired, or its creator lost access',
      409: 'The file is being scanned (`scan_pending`) or exceeds a limit of the scanner (`file_unscannable`)',
    },
    handler: async ({ params: { token }, reply }) =>
      reply(200, await whileFound(() => open(token))),
  }),
});
