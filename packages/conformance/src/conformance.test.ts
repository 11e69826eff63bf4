import { randomUUID } from 'node:crypto';
import {
  int,
  list,
  mapOf,
  nullable,
  omissible,
  optional,
  reference,
  shape,
  text,
  uuid,
} from '@tessera/fields';
import {
  type CredentialScheme,
  createLimits,
  errorHandler,
  HttpError,
  type Listening,
  listen,
  mount,
  notFound,
  openapi,
  routesFor,
  unauthenticated,
  unknownRoute,
  validationFailed,
  withCredentials,
} from '@tessera/http-kit';
import express from 'express';
import {
  badBodies,
  badPaths,
  badQueries,
  foreignIds,
  withClientToken,
  withoutAccess,
  withoutPermission,
} from './checks.ts';
import { optionalCredentials, wrongCredentials } from './credentials.ts';
import { type OpenApiDocument, type Operation, operationsOf } from './document.ts';
import { foreignReferences } from './foreign-references.ts';
import { hasOptionalFieldsOnly, omittedBodies } from './omitted-bodies.ts';
import { createResponseChecker } from './response-checker.ts';
import { sample } from './sample.ts';
import type { Subject } from './subject.ts';

interface Caller {
  /** The id of the user; null for a client. */
  readonly user: string | null;
  readonly tenant: string;
  readonly lacking: string | undefined;
}
/** The flaws that the tests plant in the service and must find. */
type Flaw =
  | 'open'
  | 'ignores optional credentials'
  | 'accepts any system token'
  | 'accepts bearer tokens instead of system tokens'
  | 'lenient'
  | 'leaks'
  | 'changes'
  | 'accepts foreign references'
  | 'accepts foreign references in objects'
  | 'accepts foreign references in lists'
  | 'rejects references'
  | 'treats every caller as a user'
  | 'crashes'
  | 'requires an empty body'
  | 'accepts anything'
  | 'misdeclared';

const Thing = shape({ id: uuid(), name: text(50) });
const Id = shape({ id: uuid() });
const Copy = shape({ name: optional(text(50)) });

/** A small service with two tenants that is correct except for the planted flaw. */
const serviceWith = (flaw?: Flaw) => {
  const store = new Map<string, { tenant: string; id: string; name: string }>();
  const route = routesFor<Caller, 'things.list' | 'things.create' | 'things.update'>();
  const find = (tenant: string, id: string) => {
    const thing = store.get(id);
    if (!thing || (thing.tenant !== tenant && flaw !== 'leaks')) throw notFound();
    return thing;
  };
  const isUnchecked = (field: string): boolean =>
    (flaw === 'accepts foreign references' && field === 'next_id') ||
    (flaw === 'accepts foreign references in objects' && field === 'origin.thing_id') ||
    (flaw === 'accepts foreign references in lists' && /\d/.test(field));
  /** Throws 422 that names every field whose thing does not exist in the caller's tenant. */
  const refuseForeign = (
    { tenant }: Caller,
    fields: Readonly<Record<string, string | null | undefined>>,
  ): void => {
    const wrong = Object.entries(fields).filter(
      ([field, id]) =>
        id != null &&
        !isUnchecked(field) &&
        (store.get(id)?.tenant !== tenant ||
          (flaw === 'rejects references' && field !== 'parent_id')),
    );
    if (wrong.length === 0) return;
    throw validationFailed(
      Object.fromEntries(wrong.map(([field]) => [field, [`${field} must be the id of a thing`]])),
    );
  };
  const answerOf = ({ id, name }: { id: string; name: string }) => ({ data: { id, name } });
  const things = {
    listThings: route({
      method: 'get',
      path: '/things',
      permission: 'things.list',
      summary: 'Things',
      query: shape({ search: optional(text(20)) }),
      responses: { 200: shape({ data: list(Thing) }) },
      handler: ({ caller, reply }) => {
        const mine = [...store.values()].filter(({ tenant }) => tenant === caller.tenant);
        return reply(200, { data: mine.map((thing) => answerOf(thing).data) });
      },
    }),
    describeThings: route({
      method: 'get',
      path: '/things/description',
      permission: 'public',
      optionalCredentials: ['bearer'],
      summary: 'What things are',
      responses: { 200: shape({ data: shape({ text: text(50) }) }) },
      async handler({ req, reply }) {
        const isGiven = req.get('authorization') !== undefined;
        if (isGiven && flaw !== 'ignores optional credentials') await gate.authenticate(req);
        return reply(200, { data: { text: 'Things' } });
      },
    }),
    createThing: route({
      method: 'post',
      path: '/things',
      permission: 'things.create',
      summary: 'Create a thing',
      body: shape({
        name: text(50),
        note: optional(text(50)),
        parent_id: optional(reference('things')),
      }),
      responses: { 201: shape({ data: Thing }) },
      handler: ({ caller, body, reply }) => {
        refuseForeign(caller, { parent_id: body.parent_id });
        if (flaw === 'crashes' && body.name.includes('😀')) throw new Error('emoji');
        const thing = { tenant: caller.tenant, id: randomUUID(), name: body.name };
        store.set(thing.id, thing);
        return reply(201, answerOf(thing));
      },
    }),
    copyThing: route({
      method: 'post',
      path: '/things/{id}/copies',
      permission: 'things.create',
      summary: 'Copy a thing',
      params: Id,
      body: flaw === 'requires an empty body' ? Copy : omissible(Copy),
      responses: { 201: shape({ data: Thing }) },
      handler: ({ caller, params, body, reply }) => {
        const { name } = find(caller.tenant, params.id);
        const thing = { tenant: caller.tenant, id: randomUUID(), name: body.name ?? name };
        store.set(thing.id, thing);
        return reply(201, answerOf(thing));
      },
    }),
    updateThing: route({
      method: 'put',
      path: '/things/{id}',
      permission: 'things.update',
      summary: 'Change a thing',
      params: Id,
      body: shape({
        name: text(50),
        next_id: optional(nullable(reference('things'))),
        origin: optional(nullable(shape({ thing_id: reference('things') }))),
        parts: list(shape({ thing_id: reference('things'), amount: optional(text(9)) })),
        related_ids: list(reference('things'), { min: 2 }),
      }),
      responses: { 200: shape({ data: Thing }) },
      handler: ({ caller, params, body, reply }) => {
        const thing = flaw === 'changes' ? store.get(params.id) : find(caller.tenant, params.id);
        if (!thing) throw notFound();
        refuseForeign(caller, {
          next_id: body.next_id,
          'origin.thing_id': body.origin?.thing_id,
          ...Object.fromEntries(
            body.parts.map((part, n) => [`parts.${n}.thing_id`, part.thing_id]),
          ),
          ...Object.fromEntries(body.related_ids.map((id, n) => [`related_ids.${n}`, id])),
        });
        if (flaw === 'treats every caller as a user' && caller.user === null)
          throw new Error('null');
        thing.name = body.name;
        find(caller.tenant, params.id);
        const extra =
          flaw === 'misdeclared' ? { data: { ...answerOf(thing).data, secret: 1 } } : {};
        return reply(200, { ...answerOf(thing), ...extra });
      },
    }),
  };
  const system = {
    countThings: routesFor<unknown, never>()({
      method: 'get',
      path: '/system/things',
      permission: 'authenticated',
      credential: 'system',
      summary: 'Count the things of all tenants',
      responses: { 200: shape({ data: shape({ count: int(0, 1000) }) }) },
      handler: ({ reply }) => reply(200, { data: { count: store.size } }),
    }),
  };
  const groups = { Things: things, System: system };
  const systemToken = { type: 'apiKey', in: 'header', name: 'X-System-Token' };
  const document = openapi(groups, {
    title: 'Things',
    version: '1.0.0',
    description: '',
    error: shape({
      error: text(50),
      message: text(500),
      errors: optional(mapOf(list(text(500)))),
      required_permission: optional(text(50)),
    }),
    problems: { 401: '-', 403: '-', 404: '-', 422: '-' },
    credentials: { system: { systemToken } },
  }) as OpenApiDocument;
  const limits = createLimits<unknown>({
    classes: { default: { window: 60, address: 0, principal: 0 } },
    principalKey: () => 'somebody',
  });
  const gate = {
    authenticate: async (req: express.Request): Promise<Caller> => {
      const [, tenant, lacking] =
        /^Bearer (own|other),([^;]*);$/.exec(req.get('authorization') ?? '') ?? [];
      const user = req.get('x-client') === undefined ? 'ada' : null;
      if (tenant) return { user, tenant, lacking };
      if (flaw === 'open') return { user, tenant: 'own', lacking: undefined };
      throw unauthenticated();
    },
    authorize: (caller: Caller, { permission }: { permission: string | readonly string[] }) => {
      if (flaw === 'lenient' || caller.lacking !== permission) return;
      const details = { required_permission: String(permission) };
      throw new HttpError(403, 'permission_denied', 'No.', { details });
    },
  };
  const systemScheme: CredentialScheme<object> = {
    name: 'system',
    securitySchemes: { systemToken },
    authenticate(req) {
      const token = req.get('x-system-token');
      if (token === 'right' || (token && flaw === 'accepts any system token')) return {};
      const isBearer = req.get('authorization')?.startsWith('Bearer own,');
      if (isBearer && flaw === 'accepts bearer tokens instead of system tokens') return {};
      throw unauthenticated();
    },
  };
  const checker = createResponseChecker(() => document);
  const app = express();
  // As in the services, entity tags come from versions only.
  app.disable('etag');
  app.set('query parser', 'simple');
  app.use(checker.observe);
  if (flaw === 'accepts anything') {
    app.use((req, res, next) =>
      req.query.surprise || req.method === 'POST'
        ? void res.status(201).json({ data: { id: randomUUID() } })
        : next(),
    );
  }
  const gates = withCredentials(gate, [systemScheme]);
  app.use(mount(groups, { gate: gates, limits, bodyLimit: 1_000_000 }), unknownRoute);
  app.use(
    errorHandler({
      render: ({ code, message, errors, details }) => ({
        error: code,
        message,
        errors,
        ...details,
      }),
    }),
  );
  return { app, document, checker };
};

let listening: Listening;
const started = async (flaw?: Flaw) => {
  const { app, document, checker } = serviceWith(flaw);
  listening = await listen(app, { host: '127.0.0.1', port: 0, variable: 'PORT' });
  const subject: Subject = {
    document,
    url: listening.url,
    caller: async (tenant, lacking = '') => ({
      authorization: `Bearer ${tenant},${lacking};`,
      'x-system-token': 'right',
    }),
    client: () => ({ authorization: 'Bearer own,;', 'x-client': 'pipeline' }),
  };
  const operation = (id: string) => operationsOf(document).find((o) => o.id === id) as Operation;
  return { subject, operation, checker };
};
afterEach(() => listening.stop(0));

const checks = [
  wrongCredentials,
  withoutPermission,
  withClientToken,
  badBodies,
  badQueries,
  badPaths,
] as const;

describe('a correct service passes', () => {
  test('every check', async () => {
    const { subject, operation, checker } = await started();
    for (const id of ['listThings', 'createThing', 'updateThing', 'countThings']) {
      for (const check of checks) {
        expect(await check(subject, operation(id))).toEqual([]);
      }
    }
    expect(await optionalCredentials(subject, operation('describeThings'))).toEqual([]);
    expect(await foreignIds(subject, operation('updateThing'))).toEqual([]);
    expect(await omittedBodies(subject, operation('copyThing'))).toEqual([]);
    expect(await foreignReferences(subject, operation('createThing'))).toEqual([]);
    expect(await foreignReferences(subject, operation('updateThing'))).toEqual([]);
    expect(checker.findings).toEqual([]);
  });
});

describe('a planted violation is found', () => {
  test('an operation that does not declare who may call it', async () => {
    const { operation } = await started();
    const { 'x-permissions': _dropped, ...bare } = operation('listThings');
    expect(withoutAccess([bare])).toEqual([expect.stringContaining('listThings')]);
  });

  test.each([
    ['open', 'listThings', wrongCredentials],
    ['ignores optional credentials', 'describeThings', optionalCredentials],
    ['accepts any system token', 'countThings', wrongCredentials],
    ['accepts bearer tokens instead of system tokens', 'countThings', wrongCredentials],
    ['lenient', 'updateThing', withoutPermission],
    ['leaks', 'updateThing', foreignIds],
    ['changes', 'updateThing', foreignIds],
    ['accepts foreign references', 'updateThing', foreignReferences],
    ['accepts foreign references in objects', 'updateThing', foreignReferences],
    ['accepts foreign references in lists', 'updateThing', foreignReferences],
    ['rejects references', 'updateThing', foreignReferences],
    ['treats every caller as a user', 'updateThing', withClientToken],
    ['crashes', 'createThing', badBodies],
    ['requires an empty body', 'copyThing', omittedBodies],
    ['accepts anything', 'createThing', badBodies],
    ['accepts anything', 'listThings', badQueries],
  ] as const)('%s (%s)', async (flaw, id, check) => {
    const { subject, operation } = await started(flaw);
    expect(await check(subject, operation(id))).not.toEqual([]);
  });

  test('an operation whose fields are all optional is found by its document', async () => {
    const { subject, operation } = await started();
    const found = ['copyThing', 'createThing', 'listThings'].filter((id) =>
      hasOptionalFieldsOnly(subject.document, operation(id)),
    );
    expect(found).toEqual(['copyThing']);
  });

  test('an operation that is not public and requires no credential', async () => {
    const { subject, operation } = await started();
    for (const security of [[], [{}]]) {
      const open = { ...operation('listThings'), security };
      expect(await wrongCredentials(subject, open)).toEqual(['listThings requires no credential.']);
    }
  });

  test('a credential that has an effect although it is not declared', async () => {
    const { subject, operation } = await started();
    const closed = { ...operation('describeThings'), security: [] };
    expect(await optionalCredentials(subject, closed)).toEqual([
      expect.stringContaining('describeThings, with an invalid bearer credential: 401'),
      expect.stringContaining('describeThings, with an invalid basic credential: 401'),
    ]);
  });

  test('a response that differs from its declaration', async () => {
    const { subject, operation, checker } = await started('misdeclared');
    await badBodies(subject, operation('createThing'));
    expect(checker.findings.filter((f) => f.startsWith('updateThing'))).toEqual([]);
    await foreignIds(subject, operation('updateThing'));
    const headers = await subject.caller('own');
    const created = await fetch(`${subject.url}/things`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: '{"name":"a"}',
    });
    const { data } = (await created.json()) as { data: { id: string } };
    await fetch(`${subject.url}/things/${data.id}`, {
      method: 'PUT',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'b', parts: [], related_ids: [data.id, data.id] }),
    });
    expect(checker.findings).toContainEqual(expect.stringContaining('updateThing answered 200'));
  });
});

describe('a response in several parts', () => {
  const exportThings: Operation = {
    id: 'exportThings',
    operationId: 'exportThings',
    path: '/export',
    method: 'GET',
    responses: { 200: { content: { 'application/json': { schema: { type: 'array' } } } } },
  };
  const document = {
    paths: { '/export': { get: exportThings } },
    components: { schemas: {} },
  } satisfies OpenApiDocument;

  test.each([
    [['[1,', '2', ']'], []],
    [['[1,', '2'], [expect.stringContaining('which is not JSON')]],
    [['{}'], [expect.stringContaining('which is invalid')]],
  ])('%j is checked as a whole against its declaration', async (pieces, findings) => {
    const checker = createResponseChecker(() => document);
    const app = express();
    app.use(checker.observe);
    app.get('/export', (_req, res) => {
      res.locals.operation = 'exportThings';
      res.type('application/json');
      for (const piece of pieces) res.write(piece);
      res.end();
    });
    listening = await listen(app, { host: '127.0.0.1', port: 0, variable: 'PORT' });
    expect(await (await fetch(`${listening.url}/export`)).text()).toBe(pieces.join(''));
    expect(checker.findings).toEqual(findings);
  });
});

describe('headers are checked against their declaration', () => {
  const header = (pattern: string) => ({ schema: { type: 'string', pattern } });
  const reference = (name: string) => ({ $ref: `#/components/headers/${name}` });
  const showThing: Operation = {
    id: 'showThing',
    operationId: 'showThing',
    path: '/thing',
    method: 'GET',
    responses: {
      200: {
        headers: { ETag: reference('ETag'), 'Retry-After': reference('Retry-After') },
        content: { 'application/json': { schema: { type: 'object' } } },
      },
    },
  };
  const document = {
    paths: { '/thing': { get: showThing } },
    components: {
      schemas: {},
      headers: {
        ETag: header('^".+"$'),
        Location: header('.'),
        'Retry-After': header('^[0-9]+$'),
      },
    },
  } satisfies OpenApiDocument;

  test.each([
    [{ ETag: '"1"', 'Retry-After': '5' }, []],
    [{}, [expect.stringContaining('without the header ETag')]],
    [
      { ETag: '"1"', Location: '/thing' },
      [expect.stringContaining('the header Location, which it does not declare')],
    ],
    [
      { ETag: '"1"', 'Retry-After': 'soon' },
      [expect.stringContaining('the header Retry-After: soon, which is invalid')],
    ],
  ])('%j', async (headers, findings) => {
    const checker = createResponseChecker(() => document);
    const app = express();
    app.set('etag', false);
    app.use(checker.observe);
    app.get('/thing', (_req, res) => {
      res.locals.operation = 'showThing';
      res.set(headers).json({});
    });
    listening = await listen(app, { host: '127.0.0.1', port: 0, variable: 'PORT' });
    await (await fetch(`${listening.url}/thing`)).text();
    expect(checker.findings).toEqual(findings);
  });
});

test('a sample is valid for its schema, and a pattern without an example is reported', async () => {
  const { subject } = await started();
  expect(sample(subject.document, { type: 'string', maxLength: 3 })).toHaveLength(3);
  expect(() => sample(subject.document, { type: 'string', pattern: '^[0-9]{6}$' })).toThrow(
    'example',
  );
});

test.each([
  ['not_found', []],
  ['gone_fishing', [expect.stringContaining('the error code "gone_fishing"')]],
])('a failure with the code %s', async (error, findings) => {
  const showThing: Operation = {
    id: 'showThing',
    operationId: 'showThing',
    path: '/thing',
    method: 'GET',
    responses: { 404: { content: { 'application/json': { schema: { type: 'object' } } } } },
  };
  const checker = createResponseChecker(() => ({
    'x-error-codes': { not_found: 'There is no such thing.' },
    paths: { '/thing': { get: showThing } },
    components: { schemas: {} },
  }));
  const app = express();
  app.use(checker.observe);
  app.get('/thing', (_req, res) => {
    res.locals.operation = 'showThing';
    res.status(404).json({ error });
  });
  listening = await listen(app, { host: '127.0.0.1', port: 0, variable: 'PORT' });
  await (await fetch(`${listening.url}/thing`)).text();
  expect(checker.findings).toEqual(findings);
});
