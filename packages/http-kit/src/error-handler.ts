import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import { HttpError, unavailable } from './http-error.ts';
import { messageOf } from './logs.ts';

export interface ErrorHandlerOptions {
  /** The body of an answer that is not a success, in the app's envelope. */
  render(error: HttpError, req: Request): object;
  /** Answers with a page, its status is set already; false where the request asks for none. */
  renderPage?(error: HttpError, req: Request, res: Response): boolean;
  /** Whether an error says that the database does not answer: 503 `database_unavailable`. */
  isDatabaseUnavailable?(error: unknown): boolean;
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

/**
 * What nobody expected is an error with its stack. A refusal that is meant (a full queue, something that is
 * not configured, a database that is away) is a warning: its cause says enough without a stack.
 */
const logFailure = (error: HttpError, req: Request): void => {
  if (error.status === 500) req.log?.().error({ err: error.cause ?? error }, error.message);
  else req.log?.().warn({ error: error.code, cause: messageOf(error.cause) }, error.message);
};

/** 400: the path or the query is no UTF-8. */
export const malformedAddress = (cause: unknown): HttpError =>
  new HttpError(400, 'malformed_address', 'The address is not well-formed UTF-8.', { cause });

/** 503: the database is away, or has no connection left. */
export const databaseUnavailable = (cause: unknown): HttpError =>
  unavailable('database_unavailable', 'The database does not answer. Try again.', cause);

/** 500: what nobody expected. */
export const unexpected = (cause: unknown): HttpError =>
  new HttpError(500, 'internal_error', 'Something went wrong on our side.', { cause });

/**
 * Renders every thrown error once, in the app's envelope. The cause goes to the request's log, never
 * to the caller; what nobody declared is a 500.
 */
export const errorHandler = (options: ErrorHandlerOptions): ErrorRequestHandler => {
  const answerTo = (cause: unknown): HttpError => {
    if (cause instanceof HttpError) return cause;
    if (cause instanceof URIError) {
      return malformedAddress(cause);
    }
    return options.isDatabaseUnavailable?.(cause) ? databaseUnavailable(cause) : unexpected(cause);
  };
  // Express knows a handler of errors by its four parameters.
  return (thrown, req, res, _next) => {
    const error = answerTo(thrown);
    res.locals.errorCode = error.code;
    if (error.status >= 500) logFailure(error, req);
    if (res.headersSent) {
      // Half an answer cannot be taken back: the connection is cut, so that the caller sees a failure.
      if (!res.writableEnded) res.destroy();
      return;
    }
    res.status(error.status).set(error.headers);
    if (!options.renderPage?.(error, req, res)) res.json(options.render(error, req));
  };
};
