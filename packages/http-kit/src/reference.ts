import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type RequestHandler, Router } from 'express';
import { compressed, type StaticContent } from './compressed.ts';
import { type CorsHeaders, noCors, onlyNavigation } from './cross-origin.ts';
import { wrongMethod } from './error-handler.ts';

const require = createRequire(import.meta.url);

/** The directory of Scalar's bundle for browsers. */
const bundle = join(dirname(require.resolve('@scalar/api-reference')), 'browser');

/** Its modules are loaded on demand; for example, the request editor only when a request is sent. */
const partsOfReader = (): string[] => [
  'standalone.esm.js',
  ...readdirSync(join(bundle, 'chunks'))
    .filter((name) => name.endsWith('.js'))
    .map((name) => `chunks/${name}`),
];

/** The modules import each other by relative URLs, so one version in the path applies to all of them. */
const versionOfReader = (): string => {
  const manifest = readFileSync(join(bundle, '../../package.json'), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
};

const page = (title: string, reader: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} – API reference</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/reference.css">
<link rel="modulepreload" href="${reader}">
</head>
<body>
<div id="reference" data-reader="${reader}"></div>
<noscript><p>This reference needs JavaScript. The description itself is at <a href="/docs/api.json">/docs/api.json</a>.</p></noscript>
<script type="module" src="/docs/reference.js"></script>
</body>
</html>
`;

/**
 * Content security policy: scripts come only from this service, never inline and never from strings. The reader
 * uses style attributes and style elements, which neither a nonce nor a hash can allow. Its requests can only
 * go to this service.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const PAGE = '/docs';

const FIVE_MINUTES = 'public, max-age=300';
const FOR_GOOD = 'public, max-age=31536000, immutable';

const asset = (name: string): Buffer => readFileSync(new URL(`../assets/${name}`, import.meta.url));

/**
 * Serves documents as JSON (path -> what creates the document at the first request), and the API reference of
 * `/docs/api.json` at `/docs`. `limit` counts requests for all of them. Scripts of the configured origins may read the
 * documents, but not the page and its parts.
 */
export const reference = (
  title: string,
  documents: Readonly<Record<string, () => object>>,
  limit: RequestHandler,
  cors: CorsHeaders = noCors,
): RequestHandler => {
  const handlers = new Map<string, RequestHandler>();
  const isDocument = (path: string): boolean => Object.hasOwn(documents, path);
  const serve = (path: string, content: StaticContent): void => {
    handlers.set(path, compressed(content));
  };
  const serveText = (path: string, type: string, text: string | Buffer): void => {
    const content = Buffer.from(text);
    serve(path, { type, cacheControl: FIVE_MINUTES, read: () => content });
  };
  for (const [path, document] of Object.entries(documents)) {
    // Read once for each encoding.
    let content: Buffer | undefined;
    const read = (): Buffer => {
      content ??= Buffer.from(JSON.stringify(document()));
      return content;
    };
    serve(path, { type: 'application/json', cacheControl: FIVE_MINUTES, read });
  }
  const folder = `/docs/assets/${versionOfReader()}`;
  serveText(PAGE, 'html', page(title, `${folder}/standalone.esm.js`));
  serveText('/docs/reference.js', 'text/javascript', asset('reference.js'));
  serveText('/docs/reference.css', 'css', asset('reference.css'));
  serveText('/docs/service.css', 'css', asset('service.css'));
  for (const part of partsOfReader()) {
    const read = (): Promise<Buffer> => readFile(join(bundle, part));
    serve(`${folder}/${part}`, { type: 'text/javascript', cacheControl: FOR_GOOD, read });
  }
  const otherMethod = wrongMethod(['get']);
  // A map lookup, because a router would try the path of every module in turn.
  return Router().use(
    (req, _res, next) => next(handlers.has(req.path) ? undefined : 'router'),
    (req, res, next) => (isDocument(req.path) ? cors.configured(req, res, next) : next()),
    limit,
    (req, res, next) => (req.path === PAGE ? onlyNavigation(req, res, next) : next()),
    (req, res, next) => {
      if (req.method !== 'GET' && req.method !== 'HEAD') return otherMethod(req, res, next);
      res.set('Content-Security-Policy', policy);
      return handlers.get(req.path)?.(req, res, next);
    },
  );
};
