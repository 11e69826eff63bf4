import { type Field, named, type Out, oneOf, type Shape, shape, text } from '@tessera/fields';
import type { Request, RequestHandler, Response } from 'express';
import { forwarded, type RouteEntry } from './route.ts';

const Links = shape({ documentation: text(200), openapi: text(200), health: text(200) });

/** The JSON body of the service's root: name, version and links. */
export const ServiceInformation = named(
  'ServiceInformation',
  shape({ service: oneOf('identity', 'crm'), version: text(50), links: Links }),
);

export interface RootOptions {
  readonly service: 'identity' | 'crm';
  readonly version: string;
  /** The path of the health response required by the specification. */
  readonly health: string;
  /** The shape of the JSON body, in the app's envelope. */
  readonly envelope: Shape;
  wrap(information: Out<typeof ServiceInformation>): object;
  /** Sends the page for browsers. */
  sendPage(req: Request, res: Response): Promise<void> | void;
}

/** Whether the client prefers HTML to JSON. */
const asksForPage = (req: Request): boolean => req.accepts(['json', 'html']) === 'html';

/** `GET /`: a page for people and the same links as JSON for programs. */
export const rootRoute = (options: RootOptions): RouteEntry => {
  const { service, version, health } = options;
  const links = { documentation: '/docs', openapi: '/docs/api.json', health };
  const answer: RequestHandler = async (req, res) => {
    res.vary('Accept');
    if (!asksForPage(req)) return void res.json(options.wrap({ service, version, links }));
    // Pages are not part of the OpenAPI document.
    res.locals.isPage = true;
    await options.sendPage(req, res);
  };
  const envelope: Field = options.envelope;
  return forwarded({
    method: 'get',
    path: '/',
    crossOrigin: 'navigation',
    summary: 'Name, version and links of the service',
    description: 'Browsers get a page.',
    responses: { 200: envelope },
    forward: answer,
  });
};

interface ServicePage {
  readonly title: string;
  readonly lead: string;
  readonly health: string;
}

const policy =
  "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** A page for a service that has no pages of its own. Its texts are constants, so nothing is escaped. */
export const sendServicePage = (res: Response, { title, lead, health }: ServicePage): void => {
  res
    .set('Content-Security-Policy', policy)
    .type('html')
    .send(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/service.css">
</head>
<body>
<main>
<h1>${title}</h1>
<p>${lead}</p>
<p><a class="button" href="/docs">API reference</a></p>
<ul>
<li><a href="/docs/api.json">OpenAPI description</a></li>
<li><a href="${health}">Service status</a></li>
</ul>
</main>
</body>
</html>
`);
};
