import type { ErrorCode } from '@tessera/contracts';
import { type Field, type FieldErrors, validate } from '@tessera/fields';
import {
  bodyTooLarge,
  fileTooLarge,
  malformed as malformedBody,
  malformedUpload,
  notJson,
  unsupportedMediaType,
} from './body.ts';
import { databaseUnavailable, internalError, malformedAddress } from './error-handler.ts';
import { fileChanged, unsatisfiableRange } from './files/conditions.ts';
import { isFileBody } from './files/file-body.ts';
import { requestTimeout } from './files/receive-file.ts';
import { HttpError, notFound, unauthenticated, validationFailed } from './http-error.ts';
import { tooManyRequests } from './limits.ts';
import { unknownParameter } from './request-input.ts';
import { isBinary, type RouteEntry } from './route.ts';

/** The errors that a field reports for an invalid value. */
const errorsForInvalid = (field: Field): FieldErrors => {
  for (const value of [{}, { surprise: true }]) {
    const result = validate(field, value);
    if (!result.ok) return result.errors;
  }
  return {};
};

/** The 422 of an invalid body or query, produced by the route's own validation. */
const validationOf = ({ body }: RouteEntry): HttpError => {
  if (isFileBody(body) && body.file.fields) return validationFailed({ file: ['file is required'] });
  if (isBinary(body) || isFileBody(body)) return validationFailed({ body: ['body is required'] });
  const errors = body ? errorsForInvalid(body) : { surprise: [unknownParameter('surprise')] };
  const few = Object.entries(errors).slice(0, 3);
  return validationFailed(Object.fromEntries(few));
};

/** The kit's own error responses to a route, by status, created as they are when they are sent. */
const standard: Readonly<Record<number, (route: RouteEntry) => HttpError>> = {
  400: ({ body }) => {
    if (isFileBody(body)) return malformedUpload();
    return body && !isBinary(body) ? malformedBody(undefined) : malformedAddress(undefined);
  },
  401: () => unauthenticated(),
  404: () => notFound(),
  408: () => requestTimeout(),
  412: () => fileChanged(),
  413: ({ body }) => (isFileBody(body) ? fileTooLarge(body.file.maxBytes) : bodyTooLarge()),
  415: ({ body }) => {
    if (isFileBody(body))
      return unsupportedMediaType(body.file.fields ? ['multipart/form-data'] : body.file.types);
    return isBinary(body) ? unsupportedMediaType(body.types) : notJson();
  },
  416: () => unsatisfiableRange(1024),
  422: validationOf,
  429: () => tooManyRequests(42),
  500: () => internalError(undefined),
  503: () => databaseUnavailable(undefined),
};

/** The error codes for problems that a route declares with a description only. */
const codes: Readonly<Record<number, ErrorCode>> = {
  400: 'malformed_request',
  403: 'permission_denied',
  404: 'not_found',
  409: 'conflict',
  412: 'precondition_failed',
  502: 'crm_failed',
};

/** Returns the app's own error for a status of a route; undefined if it has none. */
export type ErrorExample = (status: number, route: RouteEntry) => HttpError | undefined;

/** The error that a route responds with, exactly as it is sent: the route's own, or the app's, or the kit's. */
export const errorExample = (
  status: number,
  route: RouteEntry,
  ofApp: ErrorExample | undefined,
): HttpError | undefined => {
  const own = route.problems?.[status];
  if (typeof own === 'object') return own.error();
  const known = ofApp?.(status, route) ?? standard[status]?.(route);
  if (known || own === undefined) return known;
  const code = codes[status];
  if (code === undefined) {
    throw new Error(`${route.path}: the problem ${status} needs an example error of its own.`);
  }
  return new HttpError(status, code, `${own}.`);
};
