import {
  bodySchemaOf,
  type OpenApiDocument,
  type Operation,
  operationsOf,
  pathParametersOf,
} from './document.ts';
import { creationOf, referencesIn } from './references.ts';
import { sample } from './sample.ts';
import { bodyWithFile, fileOptionsOf, sampleFile } from './sample-file.ts';

export type Tenant = 'own' | 'other';

/** A running service under test, and what the tests need to know of it. */
export interface Subject {
  readonly document: OpenApiDocument;
  readonly url: string;
  /** Headers of a new caller of the tenant who holds every permission, but for one. */
  caller(tenant: Tenant, lacking?: string): Promise<Record<string, string>>;
  /** Headers of a caller above all tenants, for the operations that no caller of a tenant may use. */
  above?(operation: Operation): Promise<Record<string, string>> | undefined;
  /** Headers of a client in its own tenant that may do everything there: it is nobody's user. */
  client?(): Promise<Record<string, string>> | Record<string, string>;
  /** Parameters of a path whose things no operation creates: a tenant's own id, its members. */
  parameters?(tenant: Tenant, path: string): Promise<Record<string, string>>;
  /** Values of body fields that no sampling can know: the name of a role, an id that must exist. */
  bodies?: Readonly<Record<string, (tenant: Tenant) => Promise<object> | object>>;
}

export interface Answer {
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
  /** Sent as JSON, unless it is a Blob or a form. */
  readonly body?: unknown;
  /** Another method than the operation's: HEAD. */
  readonly method?: string;
}

/** Headers of somebody who may use the operation. */
export const entitled = async (
  subject: Subject,
  operation: Operation,
): Promise<Record<string, string>> => subject.above?.(operation) ?? subject.caller('own');

/** The address of an operation. Parameters that are not given become ids that nothing has. */
export const addressOf = (
  subject: Subject,
  { path }: Operation,
  parameters: Readonly<Record<string, string>> = {},
): string =>
  subject.url +
  path.replace(/\{(\w+)\}/g, (_all, name: string) => parameters[name] ?? crypto.randomUUID());

/** The body of a request, with the header for it that `fetch` does not set. */
const payloadOf = (body: unknown): Pick<RequestInit, 'body' | 'headers'> => {
  if (body === undefined) return {};
  if (body instanceof Blob || body instanceof FormData) return { body };
  return { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
};

/** The text of an answer; a stream of events has no end, so it is closed. */
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
): Promise<Answer> => {
  const { headers, ...payload } = payloadOf(given.body);
  const address = addressOf(subject, operation, given.parameters) + (given.query ?? '');
  const response = await fetch(address, {
    method: given.method ?? operation.method,
    redirect: 'manual',
    headers: { ...given.headers, ...(headers as Record<string, string> | undefined) },
    ...payload,
  });
  const text = await textOf(response);
  return { status: response.status, text, body: parsed(text), headers: response.headers };
};

/** Creates a record with an operation and gives the body of the answer. */
const createdBy = async (
  subject: Subject,
  create: Operation,
  tenant: Tenant,
  parameters: Record<string, string>,
  owner?: Record<string, string>,
): Promise<Record<string, unknown>> => {
  const headers = owner ?? (await subject.caller(tenant));
  const body = await validBody(subject, create, tenant);
  const answer = await call(subject, create, { headers, parameters, body });
  if (answer.status !== 201) {
    throw new Error(`${create.id} created nothing: ${answer.status} ${answer.text}`);
  }
  return (answer.body.data ?? {}) as Record<string, unknown>;
};

/** Creates a record in the collection that a reference names, and gives its id. */
export const createReferenced = async (
  subject: Subject,
  collection: string,
  tenant: Tenant,
): Promise<unknown> => {
  const create = creationOf(subject.document, collection);
  const parameters = await materialise(subject, create.path, tenant);
  return (await createdBy(subject, create, tenant, parameters)).id;
};

/** A body that the operation accepts, as far as its schema and the subject can tell. */
export const validBody = async (
  subject: Subject,
  operation: Operation,
  tenant: Tenant,
): Promise<unknown> => {
  if (fileOptionsOf(operation)) {
    const fields = await subject.bodies?.[operation.id]?.(tenant);
    return bodyWithFile(subject.document, operation, sampleFile(operation), fields);
  }
  const schema = bodySchemaOf(operation);
  if (!schema) return undefined;
  const known = (await subject.bodies?.[operation.id]?.(tenant)) as Record<string, unknown>;
  const body = { ...(sample(subject.document, schema) as object), ...known };
  for (const [field, collection] of referencesIn(subject.document, operation)) {
    if (known && field in known) continue;
    Object.assign(body, { [field]: await createReferenced(subject, collection, tenant) });
  }
  return body;
};

/** `userId` as `user_id`. */
const snake = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/**
 * Makes the things that a path names, in a tenant, through the service's own `POST` operations: for
 * `/channels/{id}/messages/{mid}` a channel, and in it a message. Gives their keys by parameter name:
 * the field of that name (`user_id` for `{userId}`), or else the id. `owner` are the headers of the caller
 * who creates them: callers may see only records of their own.
 */
export const materialise = async (
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
        `Nothing makes the {${name}} of ${path}: give it in the subject's parameters.`,
      );
    }
    const created = await createdBy(subject, create, tenant, given, owner);
    const key = created[snake(name)] ?? created.id;
    if (typeof key !== 'string') throw new Error(`${create.id} made no {${name}}.`);
    given[name] = key;
  }
  return given;
};
