import {
  bodySchemaOf,
  type OpenApiDocument,
  type Operation,
  operationsOf,
  pathParametersOf,
} from './document.ts';
import { removeAt, replaceAt } from './paths.ts';
import { creationOf, referencesIn } from './references.ts';
import { sample } from './sample.ts';
import { bodyWithFile, fileOptionsOf, sampleFile } from './sample-file.ts';

export type Tenant = 'own' | 'other';

/** The running service under test, and what the tests need to know about it. */
export interface Subject {
  readonly document: OpenApiDocument;
  readonly url: string;
  /** Headers of a new caller in the tenant with every permission except `lacking`. */
  caller(tenant: Tenant, lacking?: string): Promise<Record<string, string>>;
  /** Headers of a caller outside all tenants, for operations that no caller of a tenant may use. */
  callerOutsideTenants?(operation: Operation): Promise<Record<string, string>> | undefined;
  /** Headers of a client with every permission in its own tenant; it has no user. */
  client?(): Promise<Record<string, string>> | Record<string, string>;
  /** Path parameters for resources that no operation creates, such as the tenant's own id or its members. */
  parameters?(tenant: Tenant, path: string): Promise<Record<string, string>>;
  /** Operation id -> headers that it requires besides those of the caller. */
  readonly headers?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** What changes leave besides what is read, such as how many entries and events there are. */
  traces?(): Promise<unknown>;
  /**
   * Body fields that cannot be sampled from the schema, such as the name of a role or an existing id; of a body
   * with a file, `file` is its content as text.
   */
  bodies?: Readonly<Record<string, (tenant: Tenant) => Promise<object> | object>>;
}

export interface ApiResponse {
  readonly status: number;
  readonly text: string;
  readonly body: Record<string, unknown>;
  readonly headers: Headers;
}

const parsed = (text: string): Record<string, unknown> => {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
};

export interface Call {
  readonly headers?: Record<string, string>;
  readonly parameters?: Record<string, string>;
  readonly query?: string;
  /** Sent as JSON, except for a Blob or a form. */
  readonly body?: unknown;
  /** Replaces the method of the operation: HEAD. */
  readonly method?: string;
}

/** Headers of a caller who may use the operation. */
export const authorizedHeaders = async (
  subject: Subject,
  operation: Operation,
): Promise<Record<string, string>> =>
  subject.callerOutsideTenants?.(operation) ?? subject.caller('own');

/** The URL of an operation. Missing parameters become ids that do not exist. */
export const addressOf = (
  subject: Subject,
  { path }: Operation,
  parameters: Readonly<Record<string, string>> = {},
): string =>
  subject.url +
  path.replace(/\{(\w+)\}/g, (_all, name: string) => parameters[name] ?? crypto.randomUUID());

/** The body of a request, with the content type that `fetch` does not set by itself. */
const payloadOf = (body: unknown): Pick<RequestInit, 'body' | 'headers'> => {
  if (body === undefined) return {};
  if (body instanceof Blob || body instanceof FormData) return { body };
  return { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
};

/** The text of a response. An event stream has no end, so it is closed. */
const textOf = async (response: Response): Promise<string> => {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    return response.text();
  }
  await response.body?.cancel();
  return '';
};

/** Sends one request to an operation. */
export const call = async (
  subject: Subject,
  operation: Operation,
  given: Call,
): Promise<ApiResponse> => {
  const { headers, ...payload } = payloadOf(given.body);
  const address = addressOf(subject, operation, given.parameters) + (given.query ?? '');
  const response = await fetch(address, {
    method: given.method ?? operation.method,
    redirect: 'manual',
    headers: Object.assign({}, subject.headers?.[operation.id], given.headers, headers),
    ...payload,
  });
  const text = await textOf(response);
  return { status: response.status, text, body: parsed(text), headers: response.headers };
};

interface Creation {
  /** Headers of the caller who creates the record; by default a new caller. */
  readonly owner?: Record<string, string>;
  /** The collections of the records that are being created and refer to this one. */
  readonly creating?: readonly string[];
}

/** Creates a record with an operation and returns the body of the response. */
const createdBy = async (
  subject: Subject,
  create: Operation,
  tenant: Tenant,
  parameters: Record<string, string>,
  { owner, creating }: Creation = {},
): Promise<Record<string, unknown>> => {
  const headers = owner ?? (await subject.caller(tenant));
  const body = await validBody(subject, create, tenant, creating);
  const answer = await call(subject, create, { headers, parameters, body });
  if (answer.status !== 201) {
    throw new Error(`${create.id} created nothing: ${answer.status} ${answer.text}`);
  }
  return (answer.body.data ?? {}) as Record<string, unknown>;
};

/** Creates a record in the collection that a reference names, and returns its id. */
export const createReferenced = async (
  subject: Subject,
  collection: string,
  tenant: Tenant,
  creating: readonly string[] = [],
): Promise<unknown> => {
  const create = creationOf(subject.document, collection);
  const parameters = await createResources(subject, create.path, tenant);
  const created = await createdBy(subject, create, tenant, parameters, {
    creating: [...creating, collection],
  });
  return created.id;
};

/**
 * A body that the operation accepts, as far as the schema and the subject determine it. Its references point to
 * new records, except that a record in one of the collections `creating` does not refer to another of them.
 */
export const validBody = async (
  subject: Subject,
  operation: Operation,
  tenant: Tenant,
  creating: readonly string[] = [],
): Promise<unknown> => {
  if (fileOptionsOf(operation)) {
    const known: { file?: unknown } = (await subject.bodies?.[operation.id]?.(tenant)) ?? {};
    const [type, content] = sampleFile(operation);
    const file = typeof known.file === 'string' ? Buffer.from(known.file) : content;
    return bodyWithFile(subject.document, operation, [type, file], known);
  }
  const schema = bodySchemaOf(operation);
  if (!schema) return undefined;
  const known = (await subject.bodies?.[operation.id]?.(tenant)) as Record<string, unknown>;
  let body: unknown = { ...(sample(subject.document, schema) as object), ...known };
  // Later elements of a list first, so that removing one does not move those that follow.
  for (const reference of referencesIn(subject.document, operation, body).reverse()) {
    const { path, collection, isOptional } = reference;
    if (known && String(path[0]) in known) continue;
    if (creating.includes(collection)) {
      if (!isOptional) throw new Error(`${collection} cannot be created: they require each other.`);
      body = removeAt(body, path);
    } else {
      body = replaceAt(body, path, await createReferenced(subject, collection, tenant, creating));
    }
  }
  return body;
};

/** `userId` -> `user_id`. */
const snake = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/**
 * Creates the resources that a path names with the service's own `POST` operations: for
 * `/channels/{id}/messages/{mid}` a channel and a message in it. Returns their keys by parameter name: the
 * field of that name (`user_id` for `{userId}`), or the id. The caller with the headers `owner` creates them,
 * because callers may see only records of their own.
 */
export const createResources = async (
  subject: Subject,
  path: string,
  tenant: Tenant,
  owner?: Record<string, string>,
): Promise<Record<string, string>> => {
  const given = { ...(await subject.parameters?.(tenant, path)) };
  for (const name of pathParametersOf(path)) {
    if (given[name] !== undefined) continue;
    const collection = path.slice(0, path.indexOf(`/{${name}}`));
    const create = operationsOf(subject.document).find(
      (o) => o.method === 'POST' && o.path === collection,
    );
    if (!create) {
      throw new Error(
        `No operation creates the {${name}} of ${path}: add it to the subject's parameters.`,
      );
    }
    const created = await createdBy(subject, create, tenant, given, owner ? { owner } : {});
    const key = created[snake(name)] ?? created.id;
    if (typeof key !== 'string' && typeof key !== 'number') {
      throw new Error(`${create.id} returned no {${name}}.`);
    }
    given[name] = String(key);
  }
  return given;
};
