import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import { HttpError, unavailable } from './http-error.ts';
import { messageOf } from './logs.ts';

export interface ErrorHandlerOptions {
  /** The body of an error response, in the app's envelope. */
  render(error: HttpError, req: Request): object;
  /**
   * Responds with an error page (the status is already set); returns false if the request does not accept a
   * page.
   */
  renderPage?(error: HttpError, req: Request, res: Response): boolean;
  /** Whether an error means that the database is unavailable: 503 `database_unavailable`. */
  isDatabaseUnavailable?(error: unknown): boolean;
  /** Whether an error means that other work of the caller or its tenant uses their share of the database: 503 `overloaded`. */
  isBusy?(error: unknown): boolean;
  /** Whether an error means that a statement exceeded its time limit: 503 `query_timeout`. */
  isStatementTimeout?(error: unknown): boolean;
}

/** 404: no route matches the path. */
export const unknownRoute: RequestHandler = (req) => {
  throw new HttpError(404, 'not_found', `There is no ${req.method} ${req.path}.`);
};

/**
 * 405 with `Allow`: the path exists, but not with this method (RFC 9110). `OPTIONS` gets the same header with a
 * success.
 */
export const wrongMethod = (methods: readonly string[]): RequestHandler => {
  const known = methods.map((method) => method.toUpperCase());
  const implied = known.includes('GET') ? ['HEAD', 'OPTIONS'] : ['OPTIONS'];
  const allow = [...new Set([...known, ...implied])].join(', ');
  return (req, res) => {
    if (req.method === 'OPTIONS') return void res.status(204).set('Allow', allow).end();
    throw new HttpError(405, 'method_not_allowed', `${req.method} is not allowed here.`, {
      headers: { Allow: allow },
    });
  };
};

/**
 * Logs an unexpected error as an error with its stack. An intended 5xx (a full queue, a missing setting, an
 * unavailable database) is a warning, and its cause says enough without a stack.
 */
const logFailure = (error: HttpError, req: Request): void => {
  if (error.status === 500) req.log?.().error({ err: error.cause ?? error }, error.message);
  else req.log?.().warn({ error: error.code, cause: messageOf(error.cause) }, error.message);
};

/** 400: the path or the query is not valid UTF-8. */
export const malformedAddress = (cause: unknown): HttpError =>
  new HttpError(400, 'malformed_address', 'The URL is not valid UTF-8.', { cause });

/** 503: the database is unavailable, or has no free connection. */
export const databaseUnavailable = (cause: unknown): HttpError =>
  unavailable('database_unavailable', 'The database is unavailable. Try again.', cause);

/** 503: the caller or its tenant has its share of the database already. */
const shareInUse = (cause: unknown): HttpError =>
  unavailable(
    'overloaded',
    'Other requests of the same tenant, account or address are using its share of the database. Try again.',
    cause,
  );

/** 503: the database took too long for a statement, which is no failure of the database. */
export const queryTimeout = (cause: unknown): HttpError =>
  unavailable(
    'query_timeout',
    'The database took too long for this. Narrow the search or the filters, or request less at once; otherwise try again.',
    cause,
  );

/** 500: an unexpected error. */
export const internalError = (cause: unknown): HttpError =>
  new HttpError(500, 'internal_error', 'An internal error occurred.', { cause });

/**
 * Renders every thrown error in the app's envelope. The cause is logged and never sent to the caller; an error
 * that is not an `HttpError` is a 500.
 */
export const errorHandler = (options: ErrorHandlerOptions): ErrorRequestHandler => {
  const answerTo = (cause: unknown): HttpError => {
    if (cause instanceof HttpError) return cause;
    if (cause instanceof URIError) {
      return malformedAddress(cause);
    }
    if (options.isBusy?.(cause)) return shareInUse(cause);
    if (options.isStatementTimeout?.(cause)) return queryTimeout(cause);
    return options.isDatabaseUnavailable?.(cause)
      ? databaseUnavailable(cause)
      : internalError(cause);
  };
  // Express recognises error handlers by their four parameters.
  return (thrown, req, res, _next) => {
    const error = answerTo(thrown);
    res.locals.errorCode = error.code;
    if (error.status >= 500) logFailure(error, req);
    if (res.headersSent) {
      // The response has already begun: close the connection, so that the caller notices the failure.
      if (!res.writableEnded) res.destroy();
      return;
    }
    res.status(error.status).set(error.headers);
    if (!options.renderPage?.(error, req, res)) res.json(options.render(error, req));
  };
};
