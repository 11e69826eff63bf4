import { type RequestHandler, type Response, Router } from 'express';
// The package's main module would load the whole page into this process.
import folderOfAssets from 'swagger-ui-dist/absolute-path.js';
import { wrongMethod } from './error-handler.ts';

const page = (title: string): string => `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>${title}</title>
  <link rel="icon" href="data:,">
  <link rel="stylesheet" href="/docs/assets/swagger-ui.css">
</head>
<body>
  <div id="reference"></div>
  <script src="/docs/assets/swagger-ui-bundle.js"></script>
  <script src="/docs/start.js"></script>
</body>
</html>
`;

const start = `SwaggerUIBundle({
  url: '/docs/api.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  tagsSorter: 'alpha',
  validatorUrl: null,
});
`;

/** The reader's libraries carry their own styles and inline images; scripts come from here alone. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Serves documents as JSON (path -> document) and, at `/docs`, a reference page over `/docs/api.json`. */
export const reference = (
  title: string,
  documents: Readonly<Record<string, object>>,
  limit: RequestHandler,
): RequestHandler => {
  const router = Router({ caseSensitive: true, strict: true });
  const serve = (path: string, maxAge: number, send: (res: Response) => void): void => {
    const headers = {
      'Content-Security-Policy': policy,
      'Cache-Control': `public, max-age=${maxAge}`,
    };
    router
      .route(path)
      .get(limit, (_req, res) => send(res.set(headers)))
      .all(limit, wrongMethod(['get']));
  };
  for (const [path, document] of Object.entries(documents)) {
    const body = JSON.stringify(document);
    serve(path, 300, (res) => res.type('application/json').send(body));
  }
  serve('/docs', 300, (res) => res.type('html').send(page(title)));
  serve('/docs/start.js', 300, (res) => res.type('text/javascript').send(start));
  for (const file of ['swagger-ui.css', 'swagger-ui-bundle.js']) {
    const from = { root: folderOfAssets(), cacheControl: false };
    serve(`/docs/assets/${file}`, 3600, (res) => res.sendFile(file, from));
  }
  return router;
};
