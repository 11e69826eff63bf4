import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type Context,
  context,
  propagation,
  ROOT_CONTEXT,
  SpanStatusCode,
} from '@opentelemetry/api';
import { isTracing, startSpan } from './spans.ts';

/** What a route adds to the response while the request is handled. */
type Response = ServerResponse & { readonly locals: { readonly route?: string } };

const contexts = new WeakMap<IncomingMessage, Context>();

/**
 * Records a span of each request, in the trace of the caller's `traceparent` if it has a valid one. The span has the
 * pattern of the route, never the path, because a path can contain a token.
 */
export const traceRequests = (req: IncomingMessage, res: Response, next: () => void): void => {
  if (!isTracing()) {
    next();
    return;
  }
  const { method = 'GET' } = req;
  const { traceparent, tracestate } = req.headers;
  const parent = propagation.extract(ROOT_CONTEXT, { traceparent, tracestate });
  const options = { kind: 'server', attributes: { 'http.request.method': method } } as const;
  const { started, within } = startSpan(method, options, parent);
  contexts.set(req, within);
  res.once('close', () => {
    const { route } = res.locals;
    if (route !== undefined) {
      started.updateName(`${method} ${route}`);
      started.setAttribute('http.route', route);
    }
    // If the response was not sent completely, the client has not seen a status.
    if (res.writableFinished) {
      started.setAttribute('http.response.status_code', res.statusCode);
    } else started.setAttribute('error.type', 'cut_off');
    if (res.statusCode >= 500) started.setStatus({ code: SpanStatusCode.ERROR });
    started.end();
  });
  context.with(within, next);
};

/** Runs work in the span of a request. Events of its socket, such as the end of its body, are outside of it. */
export const inRequestSpan = <T>(req: IncomingMessage, work: () => T): T => {
  const within = contexts.get(req);
  return within === undefined ? work() : context.with(within, work);
};
