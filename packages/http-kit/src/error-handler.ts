import type { ErrorRequestHandler, RequestHandler } from 'express';
import { HttpError } from './http-error.ts';

export interface ErrorHandlerOptions {
  /** The body of an answer that is not a success, in the app's envelope. */
  render(error: HttpError): object;
  /** Gives the answer for an error that the app knows (a database that is away), or nothing. */
  translate?(error: unknown): HttpError | undefined;
}

/** Where no route matched: 404. */
export const unknownRoute: RequestHandler = (req) => {
  throw new HttpError(404, 'not_found', `There is no ${req.method} ${req.path}.`);
};

/** Where the path is right and the method is not: 405 with `Allow` (RFC 9110). `OPTIONS` asks for just that. */
export const wrongMethod = (methods: readonly string[]): RequestHandler => {
  const known = methods.map((method) => method.toUpperCase());
  const allow = [...known, ...(known.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
  return (req, res) => {
    if (req.method === 'OPTIONS') return void res.status(204).set('Allow', allow).end();
    throw new HttpError(405, 'method_not_allowed', `${req.method} is not allowed here.`, {
      headers: { Allow: allow },
    });
  };
};

const unexpected = (cause: unknown): HttpError =>
  new HttpError(500, 'internal_error', 'Something went wrong on our side.', { cause });

const malformedAddress = (error: unknown): HttpError | undefined =>
  error instanceof URIError
    ? new HttpError(400, 'malformed_address', 'The address is not well-formed UTF-8.', {
        cause: error,
      })
    : undefined;

/**
 * Renders every thrown error once, in the app's envelope. The cause goes to the request's log, never
 * to the caller; what nobody declared is a 500.
 */
export const errorHandler =
  ({ render, translate }: ErrorHandlerOptions): ErrorRequestHandler =>
  // Express knows a handler of errors by its four parameters.
  (thrown, req, res, _next) => {
    const error =
      thrown instanceof HttpError
        ? thrown
        : (malformedAddress(thrown) ?? translate?.(thrown) ?? unexpected(thrown));
    res.locals.errorCode = error.code;
    if (error.status >= 500) req.log?.error({ err: error.cause ?? error }, error.message);
    if (res.headersSent) {
      // Half an answer cannot be taken back: the connection is cut, so that the caller sees a failure.
      if (!res.writableEnded) res.destroy();
      return;
    }
    res.status(error.status).set(error.headers).json(render(error));
  };
