import type { ErrorCode } from '@tessera/contracts';
import type { FieldErrors } from '@tessera/fields';

interface HttpErrorOptions {
  /** Messages by field path; the member `errors` of the body. */
  readonly errors?: FieldErrors;
  readonly headers?: Readonly<Record<string, string>>;
  /** Additional public members of the body. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** The internal cause: logged, never sent to the caller. */
  readonly cause?: unknown;
}

/** An error response. Throw it where the error is detected; the app's error handler renders it. */
export class HttpError extends Error {
  readonly status: number;
  /** A stable code for programs, from the registry in `@tessera/contracts`. */
  readonly code: ErrorCode;
  readonly errors: FieldErrors | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(status: number, code: ErrorCode, message: string, options: HttpErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = 'HttpError';
    this.status = status;
    this.code = code;
    this.errors = options.errors;
    this.headers = options.headers ?? {};
    this.details = options.details ?? {};
  }
}

/** 422: the input is invalid; `errors` names every invalid field. */
export const validationFailed = (errors: FieldErrors): HttpError => {
  const fields = Object.keys(errors);
  const more = fields.length > 1 ? ` (and ${fields.length - 1} more)` : '';
  const first = fields[0] === undefined ? 'Invalid input' : errors[fields[0]]?.[0];
  return new HttpError(422, 'validation_failed', `${first}${more}.`, { errors });
};

/** 422 for one field. */
export const invalidField = (field: string, message: string): HttpError =>
  validationFailed({ [field]: [message] });

/** 404; `what` is the subject of the message. */
export const notFound = (what = 'The resource'): HttpError =>
  new HttpError(404, 'not_found', `${what} was not found.`);

/** 401 with the challenge that RFC 6750 section 3 requires. */
export const unauthenticated = (message = 'Authentication is required.'): HttpError =>
  new HttpError(401, 'unauthenticated', message, { headers: { 'WWW-Authenticate': 'Bearer' } });

/** 503: something that the service depends on is temporarily unavailable. */
export const unavailable = (code: ErrorCode, message: string, cause: unknown): HttpError =>
  new HttpError(503, code, message, { headers: { 'Retry-After': '1' }, cause });
