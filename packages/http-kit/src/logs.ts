import { randomUUID } from 'node:crypto';
import { inRequestSpan, spanIds } from '@tessera/telemetry';
import type { RequestHandler } from 'express';
import { type DestinationStream, type Logger, pino } from 'pino';
import { isHealthCheck } from './health.ts';
import { workerNumber } from './workers/this-worker.ts';

export type { Logger } from 'pino';

declare module 'node:http' {
  interface IncomingMessage {
    /** Returns a logger that adds the id of the request to its lines; set by `requestLog`. */
    log?: () => Logger;
  }
}

/**
 * What happened and where, and nothing else: database drivers attach whole rows, queries and settings to their
 * errors.
 */
const describeError = (error: unknown): { message: string } & Record<string, unknown> => {
  if (typeof (error as { message?: unknown } | null)?.message !== 'string') {
    return { type: typeof error, message: String(error) };
  }
  const { type, message, stack } = pino.stdSerializers.err(error as Error);
  return { type, code: (error as { code?: unknown }).code, message, stack };
};

/** The message of an error and of its causes in one line, without stacks; undefined if there is no error. */
export const messageOf = (error: unknown): string | undefined => {
  if (error === undefined) return undefined;
  const { message } = describeError(error);
  return message;
};

/** A JSON logger that writes to standard output by default. */
export const createLogger = (
  service: string,
  level: string,
  // Synchronous, so that the last lines before the process ends are not lost.
  destination: DestinationStream = pino.destination({ dest: 1, sync: true }),
): Logger =>
  pino(
    {
      level,
      base: workerNumber === undefined ? { service } : { service, worker: workerNumber },
      mixin: spanIds,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
    },
    destination,
  );

const REQUEST_ID = /^[\w.-]{1,64}$/;

/** Longer than a UUID: it can be a token, as in the paths of links that need no other authentication. */
const SECRET_SEGMENT = /[^/]{40,}/g;

const loggedPath = (url: string): string | undefined =>
  url.split('?', 1)[0]?.replace(SECRET_SEGMENT, '[redacted]');

/** An intended 5xx, such as 503 while a queue is full, should not trigger an alert. */
const levelOf = (status: number): 'error' | 'warn' | 'info' => {
  if (status === 500) return 'error';
  return status > 500 ? 'warn' : 'info';
};

export interface RequestLogOptions {
  /** Whether health probes that succeed are logged; others always are. */
  readonly logsHealthChecks: boolean;
}

/**
 * Logs one line per request, with the request's id. Only the fields listed here are logged: headers, query strings,
 * bodies and long segments of paths can contain tokens and personal data. A valid `X-Request-Id` of the caller is used;
 * the response always has one. Without `logsHealthChecks`, probes that succeed leave no line.
 */
export const requestLog =
  (logger: Logger, { logsHealthChecks }: RequestLogOptions): RequestHandler =>
  (req, res, next) => {
    const started = performance.now();
    const given = req.get('x-request-id');
    const id = given !== undefined && REQUEST_ID.test(given) ? given : randomUUID();
    res.setHeader('X-Request-Id', id);
    // Creating a child logger is expensive, and most requests log nothing else.
    req.log = () => logger.child({ request_id: id });
    res.once('close', () => {
      // If the response was not sent completely, the client has not seen a status.
      const status = res.writableFinished ? res.statusCode : undefined;
      if (!logsHealthChecks && status === 200 && isHealthCheck(res.locals.operation)) return;
      const line = {
        request_id: id,
        method: req.method,
        path: loggedPath(req.originalUrl),
        status,
        operation: res.locals.operation,
        error: res.locals.errorCode,
        duration_ms: Math.round(performance.now() - started),
      };
      const outcome = `${req.method} ${status ?? 'cut off'}`;
      inRequestSpan(req, () => logger[levelOf(res.statusCode)](line, outcome));
    });
    next();
  };
