import { type Field, matching, rawText, uuid } from '@tessera/fields';

interface Header {
  readonly field: Field;
  readonly description: string;
  readonly required?: boolean;
}

const entityTags = (): Field => rawText(1000);

/** The request headers of the API, besides those of HTTP itself. */
export const requestHeaders = {
  'If-Match': {
    field: entityTags(),
    description:
      'Entity tags of the versions to which the change applies. The response is 412 if the resource has another version (RFC 9110 section 13.1.1).',
  },
  'If-None-Match': {
    field: entityTags(),
    description:
      'Entity tags of the versions that the client has. The response is 304 if one of them is current (RFC 9110 section 13.1.2).',
  },
  'If-Modified-Since': {
    field: rawText(100),
    description:
      'A time. The response is 304 if nothing has changed since then (RFC 9110 section 13.1.3).',
  },
  'If-Unmodified-Since': {
    field: rawText(100),
    description:
      'A time. The response is 412 if the file has changed since then (RFC 9110 section 13.1.4).',
  },
  Range: {
    field: rawText(1000),
    description:
      'One range of bytes, such as `bytes=0-99`. The response is 206 with that part of the file (RFC 9110 section 14.2).',
  },
  'If-Range': {
    field: rawText(1000),
    description:
      'The entity tag or time of the version to which the range applies. If the file has changed, the response is the whole file (RFC 9110 section 13.1.5).',
  },
  'Idempotency-Key': {
    field: rawText(257),
    description:
      'A key of the client’s choice, such as a UUID: for 24 hours, the same request with the same key has no further effect and gets the same response; another request with it is a 422 (draft-ietf-httpapi-idempotency-key-header).',
  },
  'Last-Event-ID': {
    field: rawText(200),
    description:
      'The id of the last event that the client received. The stream continues after it.',
  },
  'Tus-Resumable': {
    field: matching(/^1\.0\.0$/, '1.0.0', 5),
    description: 'The version of the tus protocol.',
  },
  'Upload-Length': {
    field: matching(/^[0-9]{1,16}$/, 'a number of bytes', 16),
    description: 'The size of the whole file in bytes.',
  },
  'Upload-Defer-Length': {
    field: matching(/^1$/, '1', 1),
    description: 'Instead of `Upload-Length`: a later PATCH sends it.',
  },
  'Upload-Metadata': {
    field: rawText(16_384),
    description: 'Pairs of a name and a value in Base64, separated by commas.',
  },
  'Upload-Offset': {
    field: matching(/^[0-9]{1,16}$/, 'a number of bytes', 16),
    description:
      'The position of the bytes of the body in the file, which is the number of bytes that the service has.',
  },
  'X-Tenant': {
    field: rawText(63),
    description:
      'The slug of the tenant to act in. Required with the token of a client. For a user, it must be the tenant of the token, except for system administrators.',
  },
  'X-Tenant-Id': {
    field: uuid(),
    description: 'The id of the tenant to act in.',
    required: true,
  },
  'X-Request-Id': {
    field: matching(/^[A-Za-z0-9_.-]{1,64}$/, 'an id', 64),
    description: 'An id for the request, chosen by the client. An invalid value is replaced.',
  },
} as const satisfies Record<string, Header>;

export type RequestHeader = keyof typeof requestHeaders;

const limit = (description: string): Header => ({ field: rawText(1000), description });

/** The response headers of the API, besides those of HTTP itself. */
export const responseHeaders = {
  'X-Request-Id': {
    field: rawText(64),
    description: 'The id of the request, which the log of the service also contains.',
  },
  ETag: {
    field: matching(/^"[!#-~]+"$/, 'an entity tag', 100),
    description: 'The version of the resource, for `If-Match` and `If-None-Match`.',
  },
  Location: {
    field: rawText(16_384),
    description: 'The URL of the new resource, or of the page to go to.',
  },
  'Tus-Resumable': {
    field: matching(/^1\.0\.0$/, '1.0.0', 5),
    description: 'The version of the tus protocol.',
  },
  'Tus-Version': {
    field: rawText(100),
    description: 'The versions of the tus protocol that the service supports.',
  },
  'Tus-Extension': {
    field: rawText(200),
    description: 'The extensions of the tus protocol that the service supports.',
  },
  'Tus-Max-Size': {
    field: matching(/^[0-9]{1,16}$/, 'a number of bytes', 16),
    description: 'The size of the largest file in bytes.',
  },
  'Upload-Length': {
    field: matching(/^[0-9]{1,16}$/, 'a number of bytes', 16),
    description: 'The size of the whole file in bytes.',
  },
  'Upload-Defer-Length': {
    field: matching(/^1$/, '1', 1),
    description: 'The size of the file is not known yet.',
  },
  'Upload-Metadata': {
    field: rawText(16_384),
    description: 'The metadata with which the upload was created.',
  },
  'Upload-Offset': {
    field: matching(/^[0-9]{1,16}$/, 'a number of bytes', 16),
    description: 'The number of bytes of the file that the service has.',
  },
  'Upload-Expires': {
    field: rawText(100),
    description: 'When the upload is deleted unless it is finished.',
  },
  'Document-Id': {
    field: uuid(),
    description: 'The id of the document that the finished upload created or changed.',
  },
  // A name of 255 characters, each of up to 12 when it is encoded.
  'Content-Disposition': {
    field: rawText(4000),
    description: 'The name of the file (RFC 6266).',
  },
  'Idempotent-Replayed': {
    field: matching(/^true$/, 'true', 4),
    description: 'Present where this is the response to an earlier request with the same key.',
  },
  'Accept-Ranges': {
    field: matching(/^bytes$/, 'bytes', 10),
    description: 'The file can be requested in ranges of bytes.',
  },
  'Content-Range': {
    field: matching(/^bytes ([0-9]+-[0-9]+|\*)\/[0-9]+$/, 'a range of bytes', 100),
    description: 'The position of these bytes, and the size of the file (RFC 9110 section 14.4).',
  },
  'Last-Modified': {
    field: rawText(100),
    description: 'The time of the last change of the file or record.',
  },
  'X-Robots-Tag': {
    field: rawText(100),
    description: 'What search engines may do with the response.',
  },
  'Retry-After': {
    field: matching(/^[0-9]+$/, 'a number of seconds', 10),
    description: 'Seconds to wait before the next attempt.',
  },
  'WWW-Authenticate': {
    field: rawText(1000),
    description: 'How to authenticate (RFC 6750 section 3, RFC 7617).',
  },
  'RateLimit-Policy': limit(
    'The limits that apply to the request: `q` requests in `w` seconds (draft-ietf-httpapi-ratelimit-headers). Absent if there is no limit.',
  ),
  RateLimit: limit('The rest of each limit: `r` requests in the next `t` seconds.'),
  'X-RateLimit-Limit': limit('The limit that was checked last.'),
  'X-RateLimit-Remaining': limit('The number of requests that this limit still allows.'),
} as const satisfies Record<string, Header>;

export type ResponseHeader = keyof typeof responseHeaders;

const component = (kind: string, name: string): object => ({
  $ref: `#/components/${kind}/${name}`,
});

/** References to the parameters with these names. */
export const headerParameters = (names: readonly RequestHeader[]): object[] =>
  names.map((name) => component('parameters', name));

/** Sent with every response if limits are configured. */
const always: readonly ResponseHeader[] = [
  'X-Request-Id',
  ...(['RateLimit-Policy', 'RateLimit', 'X-RateLimit-Limit', 'X-RateLimit-Remaining'] as const),
];

const byStatus: Readonly<Record<number, readonly ResponseHeader[]>> = {
  302: ['Location'],
  304: ['ETag'],
  401: ['WWW-Authenticate'],
  // For a token with insufficient scope (RFC 6750 section 3.1).
  403: ['WWW-Authenticate'],
  416: ['Content-Range'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

/** References to the headers of a response: its own, and those that every response with the status has. */
export const headersOf = (status: number, own: readonly ResponseHeader[] = []): object =>
  Object.fromEntries(
    [...always, ...(byStatus[status] ?? []), ...own].map((name) => [
      name,
      component('headers', name),
    ]),
  );

/** The definitions that the references point to. */
export const headerComponents = (): { parameters: object; headers: object } => ({
  parameters: Object.fromEntries(
    Object.entries<Header>(requestHeaders).map(
      ([name, { field, description, required = false }]) => [
        name,
        { name, in: 'header', required, description, schema: field.json },
      ],
    ),
  ),
  headers: Object.fromEntries(
    Object.entries(responseHeaders).map(([name, { field, description }]) => [
      name,
      { description, schema: field.json },
    ]),
  ),
});
