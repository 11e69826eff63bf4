import express, { type RequestHandler, Router } from 'express';
import { absolutePath } from 'swagger-ui-dist';

const page = (title: string): string => `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>${title}</title>
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
  "frame-ancestors 'none'",
].join('; ');

/** Serves documents as JSON (path -> document) and, at `/docs`, a reference page over `/docs/api.json`. */
export const reference = (
  title: string,
  documents: Readonly<Record<string, object>>,
  limit: RequestHandler,
): RequestHandler => {
  const router = Router({ caseSensitive: true, strict: true });
  router.use('/docs', limit, (_req, res, next) => {
    res.set({ 'Content-Security-Policy': policy, 'Cache-Control': 'public, max-age=300' });
    next();
  });
  for (const [path, document] of Object.entries(documents)) {
    const body = JSON.stringify(document);
    router.get(path, (_req, res) => void res.type('application/json').send(body));
  }
  router.get('/docs', (_req, res) => void res.type('html').send(page(title)));
  router.get('/docs/start.js', (_req, res) => void res.type('text/javascript').send(start));
  router.use('/docs/assets', express.static(absolutePath(), { index: false, maxAge: '1h' }));
  return router;
};
