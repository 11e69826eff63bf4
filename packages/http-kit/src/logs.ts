import { randomUUID } from 'node:crypto';
import type { RequestHandler } from 'express';
import { type DestinationStream, type Logger, pino } from 'pino';

export type { Logger } from 'pino';

declare module 'node:http' {
  interface IncomingMessage {
    /** Gives a logger whose lines carry the id of the request; there when the app uses `requestLog`. */
    log?: () => Logger;
  }
}

/** What happened and where. Nothing else: drivers hang whole rows, queries and settings on their errors. */
const describeError = (error: unknown): { message: string } & Record<string, unknown> => {
  if (typeof (error as { message?: unknown } | null)?.message !== 'string') {
    return { type: typeof error, message: String(error) };
  }
  const { type, message, stack } = pino.stdSerializers.err(error as Error);
  return { type, code: (error as { code?: unknown }).code, message, stack };
};

/** What an error says, and what caused it, in one line without a stack; undefined where there is none. */
export const messageOf = (error: unknown): string | undefined => {
  if (error === undefined) return undefined;
  const { message } = describeError(error);
  return message;
};

/** A JSON logger on standard output, unless told where else. */
export const createLogger = (
  service: string,
  level: string,
  // Written at once: what is said last, before an end, must not be lost with it.
  destination: DestinationStream = pino.destination({ dest: 1, sync: true }),
): Logger =>
  pino(
    {
      level,
      base: { service },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
    },
    destination,
  );

const REQUEST_ID = /^[\w.-]{1,64}$/;

/**
 * One line a request, with its id. Only what is listed here is written: no header, no query string and
 * no body, since these carry tokens and personal data. The caller's `X-Request-Id` is taken over when
 * it is one, and always sent back.
 */
export const requestLog =
  (logger: Logger): RequestHandler =>
  (req, res, next) => {
    const started = performance.now();
    const given = req.get('x-request-id');
    const id = given !== undefined && REQUEST_ID.test(given) ? given : randomUUID();
    res.setHeader('X-Request-Id', id);
    // A logger of its own is costly, and most requests write nothing.
    req.log = () => logger.child({ request_id: id });
    res.once('close', () => {
      // Without an answer that went out whole there is no status that anyone has seen.
      const status = res.writableFinished ? res.statusCode : undefined;
      const line = {
        request_id: id,
        method: req.method,
        path: req.originalUrl.split('?', 1)[0],
        status,
        operation: res.locals.operation,
        error: res.locals.errorCode,
        duration_ms: Math.round(performance.now() - started),
      };
      const outcome = `${req.method} ${status ?? 'cut off'}`;
      // A refusal that is meant, such as 503 while a queue is full, is nothing to be woken up for.
      if (res.statusCode === 500) logger.error(line, outcome);
      else if (res.statusCode > 500) logger.warn(line, outcome);
      else logger.info(line, outcome);
    });
    next();
  };
