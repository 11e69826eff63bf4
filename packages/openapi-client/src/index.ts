import createFetchClient, {
  type Client,
  type ClientOptions,
  defaultBodySerializer,
} from 'openapi-fetch';

export type { Client, ClientOptions } from 'openapi-fetch';

type Body = Blob | ArrayBuffer | ArrayBufferView<ArrayBuffer> | ReadableStream | string;

/** Content of a request that is sent as it is, with its media type. */
class Content {
  readonly body: Body;
  readonly type: string;

  constructor(body: Body, type: string) {
    this.body = body;
    this.type = type;
  }
}

/** By name, because values of another realm are not instances of the classes of this one. */
const isA = (value: unknown, ...names: readonly string[]): boolean =>
  names.includes(Object.prototype.toString.call(value).slice('[object '.length, -1));

const isBlob = (value: unknown): value is Blob => isA(value, 'Blob', 'File');

const isContent = (value: unknown): value is Body =>
  typeof value === 'string' ||
  isBlob(value) ||
  ArrayBuffer.isView(value) ||
  isA(value, 'ArrayBuffer', 'ReadableStream');

const typeOf = (content: Body): string => {
  if (typeof content === 'string') return 'text/plain; charset=utf-8';
  return (isBlob(content) && content.type) || 'application/octet-stream';
};

/**
 * The members of an object as a form (RFC 7578), without those that are undefined. Files follow the other fields, which
 * servers need before they read a stream.
 */
const formOf = (members: object): FormData => {
  const form = new FormData();
  for (const [name, value] of Object.entries(members)) {
    if (value !== undefined && !isBlob(value)) form.append(name, String(value));
  }
  for (const [name, value] of Object.entries(members)) {
    if (isBlob(value)) form.append(name, value);
  }
  return form;
};

/** `headers` are those that the caller of the client has set. */
const serialize = (body: unknown, headers?: Headers | Record<string, string>): unknown => {
  if (isContent(body)) {
    return new Content(body, new Headers(headers).get('content-type') ?? typeOf(body));
  }
  const isForm = typeof body === 'object' && body !== null && Object.values(body).some(isBlob);
  if (isForm) return formOf(body);
  const serializeOther: (value: unknown, set: typeof headers) => unknown = defaultBodySerializer;
  return serializeOther(body, headers);
};

/** `Request` that sends content with its own media type instead of that of JSON. */
const withContent = (base: typeof Request): typeof Request =>
  new Proxy(base, {
    construct(target, [url, init]: [string, RequestInit & { body?: unknown }]) {
      if (!(init.body instanceof Content)) return new target(url, init);
      const headers = new Headers(init.headers);
      headers.set('content-type', init.body.type);
      // Streams require `duplex`.
      const sent = { ...init, body: init.body.body, headers, duplex: 'half' };
      return new target(url, sent as RequestInit);
    },
  });

/**
 * A typed client of an API whose OpenAPI document `Paths` describes. Bodies are sent as JSON, except for content (a
 * `Blob`, bytes, a stream or a string), which is sent as it is, and objects with a `Blob`, which are sent as
 * `multipart/form-data`.
 */
export const createOpenApiClient = <Paths extends object>(
  options: ClientOptions = {},
): Client<Paths> =>
  createFetchClient<Paths>({
    bodySerializer: serialize,
    ...options,
    Request: withContent(options.Request ?? Request),
  });
