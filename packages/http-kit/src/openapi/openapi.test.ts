import { described, list, named, shape, text } from '@tessera/fields';
import { binary, fileBody, forwarded, HttpError, openapi, type RouteGroups } from '../index.ts';
import { route, things } from '../testing/things.ts';

test('the OpenAPI document describes the routes', () => {
  const document = openapi(
    { Things: things },
    {
      title: 'Things',
      version: '1.0.0',
      description: '',
      error: shape({ message: text(100) }),
      problems: { 401: 'No caller', 403: 'Not allowed', 404: 'Not found', 422: 'Does not fit' },
    },
  ) as { paths: Record<string, Record<string, { responses: object }>> };
  const update = document.paths['/things/{id}']?.put;
  expect(update).toMatchObject({
    operationId: 'updateThing',
    'x-permissions': ['things.update'],
    security: [{ bearer: [] }],
    parameters: [
      { name: 'id', in: 'path', required: true, schema: { format: 'uuid' } },
      { $ref: '#/components/parameters/X-Request-Id' },
    ],
  });
  expect(Object.keys(update?.responses ?? {})).toEqual(['200', '401', '403', '404', '422']);
  expect(document.paths['/things/board']?.get).toMatchObject({
    security: [],
    'x-permissions': 'public',
  });
});

const documentOf = (groups: RouteGroups) =>
  openapi(groups, {
    title: 'Things',
    version: '1.0.0',
    description: '',
    problems: {},
    error: shape({ message: text(100) }),
  }) as { paths: Record<string, object>; components: { schemas: Record<string, object> } };

const answering = (field: ReturnType<typeof shape>, path = '/named') =>
  route({
    method: 'get',
    path,
    permission: 'public',
    summary: 'Named',
    responses: { 200: field },
    handler: ({ reply }) => reply(200, {}),
  });

test('a named shape is declared once and referenced everywhere else', () => {
  const Label = named('Label', shape({ text: described(text(10), 'What it says', 'new') }));
  const { paths, components } = documentOf({
    Labels: { listLabels: answering(shape({ first: Label, all: list(Label) })) },
  });
  expect(components.schemas.Label).toMatchObject({
    properties: { text: { description: 'What it says', examples: ['new'] } },
  });
  const reference = '{"$ref":"#/components/schemas/Label"}';
  expect(JSON.stringify(paths).split(reference)).toHaveLength(3);
});

test('two different shapes with one name are an error', () => {
  const groups = {
    Labels: {
      one: answering(named('Label', shape({ text: text(10) })), '/one'),
      other: answering(named('Label', shape({ text: text(20) })), '/other'),
    },
  };
  expect(() => documentOf(groups)).toThrow('Two different schemas are named "Label"');
});

test('pages are not part of the document', () => {
  const page = { method: 'get', path: '/sign-in', summary: 'Sign in', isPage: true } as const;
  const shown = forwarded({ ...page, responses: {}, forward: (_req, res) => void res.end() });
  const document = documentOf({ Things: things, Pages: { shown } });
  expect(document.paths).not.toHaveProperty('/sign-in');
  expect(document).toMatchObject({ tags: [{ name: 'Things' }] });
});

test('a field called "title" and a title in an example do not name a shape', () => {
  const Article = shape({ title: text(50), body: text(500) });
  const example = { title: 'News', body: 'None' };
  const groups = { Articles: { show: answering(described(Article, 'An article', example)) } };
  const { paths, components } = documentOf(groups);
  expect(components.schemas).toEqual({});
  expect(JSON.stringify(paths)).toContain('"examples":[{"title":"News","body":"None"}]');
  expect(JSON.stringify(paths)).toContain('"properties":{"title":{"type":"string"');
});

test('a credential other than the bearer token is described by its own security schemes', () => {
  const show = { ...answering(shape({ a: text(1) })), permission: 'authenticated' };
  const schemes = {
    systemToken: { type: 'apiKey', in: 'header', name: 'X-System-Token' },
    systemTenant: { type: 'apiKey', in: 'header', name: 'X-Tenant-Id' },
  };
  const { paths, components } = openapi(
    { Things: { own: { ...show, path: '/own' }, show: { ...show, credential: 'system' } } },
    {
      title: 'Things',
      version: '1.0.0',
      description: '',
      problems: {},
      error: shape({ message: text(100) }),
      credentials: { system: schemes },
    },
  ) as { paths: object; components: { securitySchemes: object } };
  expect(paths).toMatchObject({
    '/own': { get: { security: [{ bearer: [] }] } },
    '/named': { get: { security: [{ systemToken: [], systemTenant: [] }] } },
  });
  expect(components.securitySchemes).toEqual({
    bearer: { type: 'http', scheme: 'bearer' },
    ...schemes,
  });
});

test('every kind of body has a schema, without which generators of clients fail', () => {
  const bodies = {
    bytes: binary(['image/png'], 10),
    file: fileBody({ types: ['image/png'], maxBytes: 10 }),
    part: fileBody({ types: ['image/png'], maxBytes: 10, isPart: true }),
  };
  const routes = Object.entries(bodies).map(([id, body]) => [
    id,
    { ...answering(shape({ a: text(1) }), `/${id}`), method: 'put' as const, body },
  ]);
  const { paths } = documentOf({ Things: Object.fromEntries(routes) });
  for (const id of Object.keys(bodies)) {
    expect(paths[`/${id}`]).toMatchObject({
      put: { requestBody: { content: { 'image/png': { schema: {} } } } },
    });
  }
});

test('credentials that may be missing are alternatives to a request without any', () => {
  const show = answering(shape({ a: text(1) }));
  const session = { type: 'apiKey', in: 'cookie', name: 'session' };
  const { paths, components } = openapi(
    { Things: { show: { ...show, optionalCredentials: ['bearer', 'browser'] } } },
    {
      title: 'Things',
      version: '1.0.0',
      description: '',
      problems: { 401: 'The credential is invalid' },
      error: shape({ message: text(100) }),
      optionalCredentials: { browser: { session } },
    },
  ) as { paths: object; components: { securitySchemes: object } };
  expect(paths).toMatchObject({
    '/named': {
      get: { security: [{}, { bearer: [] }, { session: [] }], responses: { 401: {} } },
    },
  });
  expect(components.securitySchemes).toEqual({
    bearer: { type: 'http', scheme: 'bearer' },
    session,
  });
});

test("a document cannot be created if a route's credential has no security scheme", () => {
  const show = { ...answering(shape({ a: text(1) })), permission: 'authenticated' };
  const about = { title: 'Things', version: '1.0.0', description: '', problems: {} };
  const error = shape({ message: text(100) });
  for (const more of [{ credential: 'system' }, { optionalCredentials: ['system'] }]) {
    const groups = { Things: { show: { ...show, ...more } } };
    expect(() => openapi(groups, { ...about, error, credentials: {} })).toThrow(
      'the credential "system" has no security scheme',
    );
  }
});

describe('headers in the document', () => {
  const show = {
    ...answering(shape({ a: text(1) })),
    requestHeaders: ['If-None-Match'],
    responseHeaders: { 200: ['ETag'] },
  } as const;
  const { paths, components } = openapi(
    { Things: { show, ...things } },
    {
      title: 'Things',
      version: '1.0.0',
      description: '',
      error: shape({ error: text(100), message: text(100) }),
      problems: { 401: 'No caller', 403: 'Not allowed', 422: 'Does not fit', 429: 'Too many' },
      render: ({ code, message, errors }) => ({ error: code, message, errors }),
      errorExample: (status) =>
        status === 403 ? new HttpError(403, 'permission_denied', 'Not you.') : undefined,
    },
  ) as {
    paths: Record<string, Record<string, { parameters: object[]; responses: Responses }>>;
    components: { responses: Responses; headers: Record<string, object>; parameters: object };
  };
  type Responses = Record<
    string,
    { $ref?: string; headers: object; content: Record<string, { examples: object }> }
  >;
  const responseOf = (path: string, method: string, status: number) => {
    const response = paths[path]?.[method]?.responses[status];
    const name = response?.$ref?.replace('#/components/responses/', '');
    return name === undefined ? response : components.responses[name];
  };

  test('headers are described for the requests that accept them and the responses that send them', () => {
    expect(paths['/named']?.get?.parameters).toEqual([
      { $ref: '#/components/parameters/If-None-Match' },
      { $ref: '#/components/parameters/X-Request-Id' },
    ]);
    expect(Object.keys(responseOf('/named', 'get', 200)?.headers ?? {})).toEqual([
      'X-Request-Id',
      'RateLimit-Policy',
      'RateLimit',
      'X-RateLimit-Limit',
      'X-RateLimit-Remaining',
      'ETag',
    ]);
    expect(Object.keys(responseOf('/things', 'get', 401)?.headers ?? {})).toContain(
      'WWW-Authenticate',
    );
    expect(Object.keys(responseOf('/things', 'get', 429)?.headers ?? {})).toContain('Retry-After');
    expect(components.headers).toHaveProperty('ETag.schema.pattern');
    expect(components.parameters).toHaveProperty('If-None-Match.in', 'header');
  });

  test('each error response has an example with the code and the message that are sent', () => {
    const exampleOf = (path: string, method: string, status: number) =>
      Object.values(
        responseOf(path, method, status)?.content['application/json']?.examples ?? {},
      )[0];
    expect(exampleOf('/things', 'get', 403)).toMatchObject({
      value: { error: 'permission_denied', message: 'Not you.' },
    });
    expect(exampleOf('/things', 'get', 429)).toMatchObject({
      value: { error: 'rate_limited', message: 'Too many requests. Try again later.' },
    });
    expect(exampleOf('/things/{id}', 'put', 422)).toMatchObject({
      value: { error: 'validation_failed', errors: { name: ['name is required'] } },
    });
  });

  test('an error response that several operations share is described once', () => {
    const { $ref } = paths['/things']?.get?.responses[429] ?? {};
    expect($ref).toBe('#/components/responses/TooManyRequests');
    expect(paths['/things/{id}']?.put?.responses[429]?.$ref).toBe($ref);
  });
});
