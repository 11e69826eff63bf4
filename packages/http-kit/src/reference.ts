import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type RequestHandler, Router } from 'express';
import { compressed, type StaticContent } from './compressed.ts';
import { wrongMethod } from './error-handler.ts';

const require = createRequire(import.meta.url);

/** Where Scalar lies, as it is bundled for browsers. */
const bundle = join(dirname(require.resolve('@scalar/api-reference')), 'browser');

/** Its parts are loaded as they are needed: the editor of requests only by who sends one. */
const partsOfReader = (): string[] => [
  'standalone.esm.js',
  ...readdirSync(join(bundle, 'chunks'))
    .filter((name) => name.endsWith('.js'))
    .map((name) => `chunks/${name}`),
];

/** The parts import each other by relative addresses: a version in the path is one for all of them. */
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
 * Scripts come from here alone, none is inline and none is made of text. The reader styles its parts by
 * attributes and by elements of its own, for which there is neither a nonce nor a hash. What it sends goes to
 * this service and to no other.
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

const FIVE_MINUTES = 'public, max-age=300';
const FOR_GOOD = 'public, max-age=31536000, immutable';

const asset = (name: string): Buffer => readFileSync(new URL(`../assets/${name}`, import.meta.url));

/**
 * Serves documents as JSON (path -> document) and, at `/docs`, a reference over `/docs/api.json`. `limit` counts
 * all of them.
 */
export const reference = (
  title: string,
  documents: Readonly<Record<string, object>>,
  limit: RequestHandler,
): RequestHandler => {
  const handlers = new Map<string, RequestHandler>();
  const serve = (path: string, content: StaticContent): void => {
    handlers.set(path, compressed(content));
  };
  const serveText = (path: string, type: string, text: string | Buffer): void => {
    const content = Buffer.from(text);
    serve(path, { type, cacheControl: FIVE_MINUTES, read: () => content });
  };
  for (const [path, document] of Object.entries(documents)) {
    serveText(path, 'application/json', JSON.stringify(document));
  }
  const folder = `/docs/assets/${versionOfReader()}`;
  serveText('/docs', 'html', page(title, `${folder}/standalone.esm.js`));
  serveText('/docs/reference.js', 'text/javascript', asset('reference.js'));
  serveText('/docs/reference.css', 'css', asset('reference.css'));
  serveText('/docs/service.css', 'css', asset('service.css'));
  for (const part of partsOfReader()) {
    const read = (): Promise<Buffer> => readFile(join(bundle, part));
    serve(`${folder}/${part}`, { type: 'text/javascript', cacheControl: FOR_GOOD, read });
  }
  const otherMethod = wrongMethod(['get']);
  // One look-up: a router would try the address of every part in turn.
  return Router().use(
    (req, _res, next) => next(handlers.has(req.path) ? undefined : 'router'),
    limit,
    (req, res, next) => {
      if (req.method !== 'GET' && req.method !== 'HEAD') return otherMethod(req, res, next);
      res.set('Content-Security-Policy', policy);
      return handlers.get(req.path)?.(req, res, next);
    },
  );
};
