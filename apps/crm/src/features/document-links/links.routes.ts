import { described, named, rawText, shape, text } from '@tessera/fields';
import { fileResponse, type RouteTable } from '@tessera/http-kit';
import { record, route } from '../../http.ts';
import { createFrame } from '../../records/route-frame.ts';
import { recordRoutes } from '../../records/routes.ts';
import { tagged } from '../../records/versions.ts';
import { documentLink, Link, LinkInput } from './links.kind.ts';
import type { LinkService } from './links.service.ts';

/** The path at which a link is served, which needs no token of a user. */
const PUBLIC_PATH = '/public/links';

const LinkWithToken = named(
  'DocumentLinkWithToken',
  shape({
    ...Link.fields,
    token: described(text(200), 'The secret of the link. It is not shown again.'),
    path: described(
      text(300),
      'Where the document is downloaded, after the address of CRM',
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
        'Everybody who has the link can download the document until it expires. It is served only while its creator may see the document: it answers 404 once they lose `documents.view` or access to the folder, are deactivated or leave the tenant, while the tenant is suspended, and when the document is deleted or found to be infected. Only users can create links, in person. The token is shown once, in this response.',
      body: LinkInput,
      responses: { 201: record(LinkWithToken) },
      responseHeaders: { 201: ['ETag', 'Location'] },
      // Responses to keys are stored, and a token must not be.
      isIdempotent: false,
      handler: async ({ caller, params, body, req, reply }) => {
        const { token, ...created } = await create(caller, params.id ?? '', body);
        const location = `${req.originalUrl.split('?', 1)[0]}/${created.id}`;
        const data = Object.assign({ token, path: `${PUBLIC_PATH}/${token}` }, created.answer);
        return reply(201, { data }, { ETag: tagged(created).ETag, Location: location });
      },
    }),

    getDocumentLink: routes.get(),
    deleteDocumentLink: routes.delete({ summary: 'End a link to a document' }),
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
    description: 'Needs no authentication. Unknown, expired and ended links get the same response.',
    params: shape({ token: rawText(200) }),
    responses: { 200: fileResponse('*/*') },
    problems: {
      404: 'The link does not exist, has expired or has ended',
      409: 'The file is being scanned',
    },
    handler: async ({ params: { token }, reply }) => reply(200, await open(token)),
  }),
});
