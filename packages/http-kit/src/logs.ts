import { randomUUID } from 'node:crypto';
import type { RequestHandler } from 'express';
import { type Logger, pino } from 'pino';
import { pinoHttp } from 'pino-http';

export type { Logger } from 'pino';

/** A JSON logger on standard output. */
export const createLogger = (name: string, level: string): Logger =>
  pino({
    name,
    level,
    base: { service: name },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  });

const REQUEST_ID = /^[\w.-]{1,64}$/;

/**
 * One line a request, with its id. Only what is listed here is written: no header, no query string and
 * no body, since these carry tokens and personal data. The caller's `X-Request-Id` is taken over when
 * it is one, and always sent back.
 */
export const requestLog = (logger: Logger): RequestHandler =>
  pinoHttp<Parameters<RequestHandler>[0], Parameters<RequestHandler>[1]>({
    logger,
    genReqId: (req, res) => {
      const given = req.get('x-request-id');
      const id = given !== undefined && REQUEST_ID.test(given) ? given : randomUUID();
      res.setHeader('X-Request-Id', id);
      return id;
    },
    quietReqLogger: true,
    customAttributeKeys: { reqId: 'request_id', responseTime: 'duration_ms' },
    customLogLevel: (_req, res) => (res.statusCode >= 500 ? 'error' : 'info'),
    customSuccessMessage: (req, res) => `${req.method} ${res.statusCode}`,
    customErrorMessage: (req, res) => `${req.method} ${res.statusCode}`,
    customReceivedObject: () => undefined,
    serializers: { req: () => undefined, res: () => undefined },
    customProps: (req, res) => ({
      method: req.method,
      path: req.originalUrl.split('?', 1)[0],
      status: res.statusCode,
      operation: res.locals.operation,
      error: res.locals.errorCode,
    }),
  });
