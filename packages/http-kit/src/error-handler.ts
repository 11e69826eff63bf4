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

const unexpected = (cause: unknown): HttpError =>
  new HttpError(500, 'internal_error', 'Something went wrong on our side.', { cause });

const malformedPath = (error: unknown): HttpError | undefined =>
  error instanceof URIError
    ? new HttpError(400, 'malformed_path', 'The path is not well-formed.', { cause: error })
    : undefined;

/**
 * Renders every thrown error once, in the app's envelope. The cause goes to the request's log, never
 * to the caller; what nobody declared is a 500.
 */
export const errorHandler =
  ({ render, translate }: ErrorHandlerOptions): ErrorRequestHandler =>
  (thrown, req, res, next) => {
    const error =
      thrown instanceof HttpError
        ? thrown
        : (malformedPath(thrown) ?? translate?.(thrown) ?? unexpected(thrown));
    res.locals.errorCode = error.code;
    if (error.status >= 500) req.log?.error({ err: error.cause ?? error }, error.message);
    // Half an answer cannot be taken back: the connection is cut, so that the caller sees a failure.
    if (res.headersSent) return next(thrown);
    res.status(error.status).set(error.headers).json(render(error));
  };
