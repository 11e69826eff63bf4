import type { ErrorCode } from '@tessera/contracts';
import type { FieldErrors } from '@tessera/fields';

interface HttpErrorOptions {
  /** Messages by field path; turns up in the body as `errors`. */
  readonly errors?: FieldErrors;
  readonly headers?: Readonly<Record<string, string>>;
  /** Further public members of the body. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** What went wrong inside: for the log, never for the caller. */
  readonly cause?: unknown;
}

/** An answer that is not a success: thrown where it is known, rendered once by the app's error handler. */
export class HttpError extends Error {
  readonly status: number;
  /** Stable, for programs; from the registry in `@tessera/contracts`. */
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

/** 422: what was sent does not fit; `errors` names every failing field. */
export const validationFailed = (errors: FieldErrors): HttpError => {
  const fields = Object.keys(errors);
  const more = fields.length > 1 ? ` (and ${fields.length - 1} more)` : '';
  const first = fields[0] === undefined ? 'Invalid input' : errors[fields[0]]?.[0];
  return new HttpError(422, 'validation_failed', `${first}${more}.`, { errors });
};

/** 422 for one field. */
export const invalidField = (field: string, message: string): HttpError =>
  validationFailed({ [field]: [message] });

/** 404; `what` begins the sentence. */
export const notFound = (what = 'The resource'): HttpError =>
  new HttpError(404, 'not_found', `${what} was not found.`);

/** 401 with the challenge that RFC 6750 section 3 asks for. */
export const unauthenticated = (message = 'Authentication is required.'): HttpError =>
  new HttpError(401, 'unauthenticated', message, { headers: { 'WWW-Authenticate': 'Bearer' } });

/** 503: something that the answer needs is away for the moment. */
export const unavailable = (code: ErrorCode, message: string, cause: unknown): HttpError =>
  new HttpError(503, code, message, { headers: { 'Retry-After': '1' }, cause });
