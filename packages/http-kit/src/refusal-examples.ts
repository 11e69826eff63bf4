import type { ErrorCode } from '@tessera/contracts';
import { type Field, type FieldErrors, validate } from '@tessera/fields';
import {
  malformed as malformedBody,
  malformedUpload,
  notJson,
  notOfType,
  tooLarge,
  tooLargeFor,
} from './body.ts';
import { databaseUnavailable, malformedAddress, unexpected } from './error-handler.ts';
import { fileChanged, unsatisfiableRange } from './files/conditions.ts';
import { isFileBody } from './files/file-body.ts';
import { requestTimeout } from './files/receive-file.ts';
import { HttpError, notFound, unauthenticated, validationFailed } from './http-error.ts';
import { tooMany } from './limits.ts';
import { unknownParameter } from './mount.ts';
import { isBinary, type RouteEntry } from './route.ts';

/** Something that fits no shape of ours, and shows best what is told of it. */
const unfit = (field: Field): FieldErrors => {
  for (const value of [{}, { surprise: true }]) {
    const result = validate(field, value);
    if (!result.ok) return result.errors;
  }
  return {};
};

/** What is told of a body or of a query that does not fit: by the checks that the route has. */
const validationOf = ({ body }: RouteEntry): HttpError => {
  if (isFileBody(body) && body.file.fields) return validationFailed({ file: ['file is required'] });
  if (isBinary(body) || isFileBody(body)) return validationFailed({ body: ['body is required'] });
  const errors = body ? unfit(body) : { surprise: [unknownParameter('surprise')] };
  const few = Object.entries(errors).slice(0, 3);
  return validationFailed(Object.fromEntries(few));
};

/** What the kit itself answers a route with, by status: made as they are when they are sent. */
const standard: Readonly<Record<number, (route: RouteEntry) => HttpError>> = {
  400: ({ body }) => {
    if (isFileBody(body)) return malformedUpload();
    return body && !isBinary(body) ? malformedBody(undefined) : malformedAddress(undefined);
  },
  401: () => unauthenticated(),
  404: () => notFound(),
  408: () => requestTimeout(),
  412: () => fileChanged(),
  413: ({ body }) => (isFileBody(body) ? tooLargeFor(body.file.maxBytes) : tooLarge()),
  415: ({ body }) => {
    if (isFileBody(body))
      return notOfType(body.file.fields ? ['multipart/form-data'] : body.file.types);
    return isBinary(body) ? notOfType(body.types) : notJson();
  },
  416: () => unsatisfiableRange(1024),
  422: validationOf,
  429: () => tooMany(42),
  500: () => unexpected(undefined),
  503: () => databaseUnavailable(undefined),
};

/** The codes of the refusals that routes describe as their own. */
const codes: Readonly<Record<number, ErrorCode>> = {
  400: 'malformed_request',
  403: 'permission_denied',
  404: 'not_found',
  409: 'conflict',
  412: 'precondition_failed',
  502: 'crm_failed',
};

/** Gives an example of what a route refuses with; undefined where the app knows none of its own. */
export type RefusalExample = (status: number, route: RouteEntry) => HttpError | undefined;

/** The refusal that a route answers with, as it is sent: its own, or that of the app, or that of the kit. */
export const refusalExample = (
  status: number,
  route: RouteEntry,
  ofApp: RefusalExample | undefined,
): HttpError | undefined => {
  const own = route.problems?.[status];
  if (typeof own === 'object') return own.refusal();
  const known = ofApp?.(status, route) ?? standard[status]?.(route);
  if (known || own === undefined) return known;
  const code = codes[status];
  if (code === undefined) {
    throw new Error(
      `${route.path}: the problem ${status} needs a refusal of its own as its example.`,
    );
  }
  return new HttpError(status, code, `${own}.`);
};
