import { STATUS_CODES } from 'node:http';
import { errorCodes } from '@tessera/contracts';
import type { Field, JsonSchema, Shape } from '@tessera/fields';
import type { Request } from 'express';
import { bearerScheme, type Credentials } from './credentials.ts';
import { type ErrorExample, errorExample } from './error-examples.ts';
import type { ErrorHandlerOptions } from './error-handler.ts';
import { type FileBody, isFileBody } from './files/file-body.ts';
import { headerComponents, headerParameters, headersOf, type RequestHeader } from './headers.ts';
import { withIdempotencyKey } from './idempotency.ts';
import { flatten, takesBody } from './mount.ts';
import {
  type DeclaredResponse,
  isBinary,
  type Problem,
  permissionsOf,
  type RequestBody,
  type RouteEntry,
  type RouteGroups,
} from './route.ts';

export interface DocumentOptions {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  /** The body of every error response. */
  readonly error: Field;
  /** Descriptions of the statuses that the gate, the limits or the validation can respond with. */
  readonly problems: Readonly<Record<number, string>>;
  /** The credentials that the gate accepts besides bearer tokens. */
  readonly credentials?: Credentials;
  /** Examples of the app's own errors. */
  readonly errorExample?: ErrorExample;
  /** Whether the app keeps responses by `Idempotency-Key`. */
  readonly takesIdempotencyKeys?: boolean;
  /** Headers that the gate reads, by route. */
  requestHeaders?(route: RouteEntry): readonly RequestHeader[];
}

/** Renders the examples of errors; without it the document contains none. */
export type Rendering = Partial<Pick<ErrorHandlerOptions, 'render'>>;

/** Descriptions of the statuses that all services share. */
export const standardProblems = {
  400: 'The body is not well-formed',
  413: 'The body is too large',
  415: 'The body is not JSON',
  422: 'Some of what was sent does not fit; `errors` names each field',
  429: 'Too many requests; `Retry-After` says when to come back',
  500: 'Something went wrong on the side of the service',
} as const;

/** Descriptions of the statuses of file routes. */
const fileProblems = {
  408: 'The file did not arrive in time',
  412: 'The file has changed',
  416: 'The range is outside of the file',
} as const;

const fileHeaders = ['ETag', 'Last-Modified', 'Accept-Ranges', 'Content-Disposition'] as const;
const fileConditions = [
  'If-Match',
  'If-None-Match',
  'If-Modified-Since',
  'Range',
  'If-Range',
] as const;

type Schemas = Record<string, JsonSchema>;

const mapped = <T, U>(of: Readonly<Record<string, T>>, to: (value: T) => U): Record<string, U> =>
  Object.fromEntries(Object.entries(of).map(([key, value]) => [key, to(value)]));

/**
 * Moves named schemas to `components` and replaces them by references. Visits only keywords that contain
 * schemas, because an example or a property can also have a member called "title".
 */
const hoist = (given: JsonSchema, schemas: Schemas): JsonSchema => {
  const below = (schema: unknown): unknown =>
    typeof schema === 'object' ? hoist(schema as JsonSchema, schemas) : schema;
  const { title, ...own } = given;
  const { properties, items, additionalProperties, anyOf } = own as Partial<{
    properties: Record<string, unknown>;
    items: unknown;
    additionalProperties: unknown;
    anyOf: unknown[];
  }>;
  const schema = {
    ...own,
    ...(properties && { properties: mapped(properties, below) }),
    ...(items !== undefined && { items: below(items) }),
    ...(additionalProperties !== undefined && {
      additionalProperties: below(additionalProperties),
    }),
    ...(anyOf && { anyOf: anyOf.map(below) }),
  };
  if (typeof title !== 'string') return schema;
  const known = schemas[title];
  if (known && JSON.stringify(known) !== JSON.stringify(schema)) {
    throw new Error(`Two different schemas are named "${title}".`);
  }
  schemas[title] = schema;
  return { $ref: `#/components/schemas/${title}` };
};

/** Whether a route responds with a file, of which clients may request a range. */
const servesFile = ({ responses }: RouteEntry): boolean =>
  Object.values(responses).some((response) => 'fileTypes' in response);

const sendsEvents = ({ responses }: RouteEntry): boolean =>
  Object.values(responses).some((response) => 'events' in response);

const statusesOf = (route: RouteEntry): number[] => {
  const guarded = route.permission !== 'public';
  return [
    ...(guarded ? [401, 403] : []),
    ...(route.params ? [404] : []),
    ...(route.forward ? [] : [400, 422]),
    ...(takesBody(route) ? [413, 415] : []),
    ...(isFileBody(route.body) ? [408] : []),
    ...(servesFile(route) ? [412, 416] : []),
    429,
    500,
    503,
  ];
};

const parametersOf = (
  shape: Shape | undefined,
  where: 'path' | 'query',
  schemas: Schemas,
): object[] =>
  Object.entries(shape?.fields ?? {}).map(([name, field]) => {
    const { description, ...schema } = field.json as { description?: string };
    return {
      name,
      in: where,
      required: where === 'path' || !field.absent,
      ...(description && { description }),
      schema: hoist(schema, schemas),
    };
  });

const jsonContent = (
  field: Field,
  schemas: Schemas,
  types: readonly string[] = ['application/json'],
) => {
  const schema = hoist(field.json, schemas);
  return { content: Object.fromEntries(types.map((type) => [type, { schema }])) };
};

/**
 * The schema of a form with a file. The file itself has no schema, since OpenAPI 3.1 describes bytes only by
 * their media type.
 */
const formSchema = (fields: Shape, schemas: Schemas): JsonSchema => {
  const { properties, required, ...rest } = fields.json as {
    readonly properties: object;
    readonly required: readonly string[];
  };
  return hoist(
    { ...rest, properties: { ...properties, file: {} }, required: [...required, 'file'] },
    schemas,
  );
};

const fileRequestBody = (
  { types, maxBytes, fields }: FileBody['file'],
  schemas: Schemas,
): object => {
  const description = `A file of at most ${maxBytes} bytes. Its type is found in its content.`;
  const limits = { 'x-file': { types, maxBytes } };
  if (!fields) {
    const content = Object.fromEntries(types.map((type) => [type, {}]));
    return { required: true, description, content, ...limits };
  }
  const contentType = types.join(', ');
  const form = { schema: formSchema(fields, schemas), encoding: { file: { contentType } } };
  return { required: true, description, content: { 'multipart/form-data': form }, ...limits };
};

/** In OpenAPI 3.1, bytes have no schema. */
const requestBodyOf = (
  { body, bodyTypes }: RouteEntry & { readonly body: RequestBody },
  schemas: Schemas,
): object => {
  if (isFileBody(body)) return fileRequestBody(body.file, schemas);
  if (!isBinary(body)) return { required: !body.absent, ...jsonContent(body, schemas, bodyTypes) };
  const content = Object.fromEntries(body.types.map((type) => [type, {}]));
  return { required: true, description: `At most ${body.maxBytes} bytes.`, content };
};

/** An error response with an example, rendered as it is sent. */
const errorContent = (
  status: number,
  field: Field,
  route: RouteEntry,
  { schemas, options }: DocumentContext,
): object => {
  const schema = hoist(field.json, schemas);
  const error = options.render && errorExample(status, route, options.errorExample);
  if (!options.render || !error) return { content: { 'application/json': { schema } } };
  const value = options.render(error, { path: route.path } as Request);
  const examples = { [error.code]: { summary: error.message, value } };
  return { content: { 'application/json': { schema, examples } } };
};

const descriptionOf = (problem: string | Problem | undefined): string | undefined =>
  typeof problem === 'object' ? problem.description : problem;

/** The state of a document that is being created. */
interface DocumentContext {
  readonly options: DocumentOptions & Rendering;
  readonly schemas: Schemas;
}

/** The security requirements of a route. Throws if its credential has no security scheme. */
const securityOf = (
  { permission, credential, path }: RouteEntry,
  { credentials = {} }: DocumentOptions,
): object[] => {
  if (permission === 'public') return [];
  const schemes = credential === undefined ? bearerScheme : credentials[credential];
  if (!schemes) throw new Error(`${path}: the credential "${credential}" has no security scheme.`);
  return [mapped(schemes, () => [])];
};

const operationOf = (
  [id, given]: readonly [string, RouteEntry],
  tag: string,
  making: DocumentContext,
): object => {
  const { options, schemas } = making;
  const route = options.takesIdempotencyKeys ? withIdempotencyKey(given) : given;
  const needed = permissionsOf(route);
  const problems: Readonly<Record<number, string | Problem>> = {
    ...fileProblems,
    ...options.problems,
    ...route.problems,
  };
  const own = Object.keys(route.problems ?? {}).map(Number);
  const errors = [...new Set([...statusesOf(route), ...own])].filter(
    (status) => problems[status] !== undefined && route.responses[status] === undefined,
  );
  const answer = (status: number, field: DeclaredResponse): object => {
    if ('empty' in field) return {};
    if ('fileTypes' in field) {
      return { content: Object.fromEntries(field.fileTypes.map((type) => [type, {}])) };
    }
    if ('events' in field) {
      const data = mapped(field.events, (of) => hoist(of.json, schemas));
      return { content: { 'text/event-stream': { schema: { type: 'string' }, 'x-events': data } } };
    }
    if (!('streamed' in field)) {
      if (status >= 400) return errorContent(status, field, route, making);
      return jsonContent(field, schemas);
    }
    const schemaOf = (of: Field | null) => (of ? hoist(of.json, schemas) : { type: 'string' });
    return { content: mapped(field.streamed, (of) => ({ schema: schemaOf(of) })) };
  };
  const partial = (field: DeclaredResponse) => [
    [
      206,
      {
        description: 'The part of the file that was asked for',
        headers: headersOf(206, [...fileHeaders, 'Content-Range']),
        ...answer(206, field),
      },
    ],
    [
      304,
      {
        description: 'The client has the file',
        headers: headersOf(304, ['Accept-Ranges', 'Last-Modified']),
      },
    ],
  ];
  const success = Object.entries(route.responses).flatMap(([key, field]) => {
    const status = Number(key);
    const description = status < 300 ? 'Success' : descriptionOf(problems[status]);
    const described = [
      key,
      {
        description: description ?? 'See the body',
        headers: headersOf(status, [
          ...('fileTypes' in field ? fileHeaders : []),
          ...(route.responseHeaders?.[status] ?? []),
        ]),
        ...answer(status, field),
      },
    ];
    return 'fileTypes' in field ? [described, ...partial(field)] : [described];
  });
  const failure = errors.map((status) => [
    status,
    {
      description: descriptionOf(problems[status]),
      headers: headersOf(status),
      ...errorContent(status, options.error, route, making),
    },
  ]);
  const parameters = [
    ...parametersOf(route.params, 'path', schemas),
    ...parametersOf(route.query, 'query', schemas),
    ...headerParameters([
      ...(options.requestHeaders?.(route) ?? []),
      ...(route.requestHeaders ?? []),
      ...(servesFile(route) ? fileConditions : []),
      ...(sendsEvents(route) ? (['Last-Event-ID'] as const) : []),
      'X-Request-Id',
    ]),
  ];
  return {
    operationId: id,
    tags: [tag],
    summary: route.summary,
    ...(route.description && { description: route.description }),
    security: securityOf(route, options),
    'x-permissions': route.permission === 'public' ? 'public' : needed,
    ...(parameters.length > 0 && { parameters }),
    ...(route.body && {
      requestBody: requestBodyOf({ ...route, body: route.body }, schemas),
    }),
    responses: Object.fromEntries([...success, ...failure]),
  };
};

const sorted = (schemas: Schemas): Schemas =>
  Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => a.localeCompare(b, 'en')));

/** Tags of page routes only are left out, because pages are not part of the document. */
const tagsOf = (groups: RouteGroups): object[] =>
  Object.entries(groups)
    .filter(([, table]) => Object.values(table).some(({ isPage }) => !isPage))
    .map(([name]) => ({ name }));

interface Described {
  responses: Record<string, object>;
}

/**
 * Moves error responses that several operations share to `components`, which shortens the document by two
 * thirds.
 */
const shareResponses = (paths: Record<string, Record<string, object>>): Record<string, object> => {
  const operations = Object.values(paths).flatMap((methods) =>
    Object.values(methods),
  ) as Described[];
  const isRefusal = (status: string): boolean => Number(status) >= 400;
  const uses = new Map<string, number>();
  for (const { responses } of operations) {
    for (const [status, response] of Object.entries(responses)) {
      const key = status + JSON.stringify(response);
      if (isRefusal(status)) uses.set(key, (uses.get(key) ?? 0) + 1);
    }
  }
  const shared: Record<string, object> = {};
  const names = new Map<string, string>();
  const nameOf = (status: string, key: string): string => {
    const known = names.get(key);
    if (known) return known;
    const phrase = (STATUS_CODES[status] ?? status).replace(/\W/g, '');
    let name = phrase;
    for (let number = 2; shared[name]; number += 1) name = `${phrase}${number}`;
    names.set(key, name);
    return name;
  };
  for (const operation of operations) {
    for (const [status, response] of Object.entries(operation.responses)) {
      const key = status + JSON.stringify(response);
      if ((uses.get(key) ?? 0) < 2) continue;
      const name = nameOf(status, key);
      shared[name] = response;
      operation.responses[status] = { $ref: `#/components/responses/${name}` };
    }
  }
  return shared;
};

/** The OpenAPI 3.1 document of an app, created from the same tables as its router. */
export const openapi = (groups: RouteGroups, options: DocumentOptions & Rendering): object => {
  flatten(groups);
  const schemas: Schemas = {};
  const making = { options, schemas };
  const paths: Record<string, Record<string, object>> = {};
  for (const [tag, table] of Object.entries(groups)) {
    for (const named of Object.entries(table)) {
      const { path, method, isPage } = named[1];
      if (isPage) continue;
      paths[path] = { ...paths[path], [method]: operationOf(named, tag, making) };
    }
  }
  const responses = shareResponses(paths);
  return {
    openapi: '3.1.0',
    info: {
      title: options.title,
      version: options.version,
      description: options.description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: tagsOf(groups),
    paths,
    'x-error-codes': errorCodes,
    components: {
      schemas: sorted(schemas),
      responses,
      ...headerComponents(),
      securitySchemes: Object.assign({}, bearerScheme, ...Object.values(options.credentials ?? {})),
    },
  };
};
