import type { ServerResponse } from 'node:http';
import type { NextFunction, RequestHandler, Response } from 'express';
import type { KoaContextWithOIDC, Provider } from 'oidc-provider';
import { providerRequest } from './request.ts';

interface Refusal {
  readonly error: string;
  readonly error_description?: string;
}

const isRefusal = (status: number, body: unknown): body is Refusal =>
  status >= 400 && typeof body === 'object' && body !== null && 'error' in body;

/** Both kinds of client can read it: `{error, error_description}` and `{success, message}` (decision B1). */
const inBothShapes = ({ error, error_description = error }: Refusal): object => ({
  error,
  error_description,
  success: false,
  message: error_description,
});

/** What the specification promises for each endpoint, and not a member more. */
const shapes: Readonly<Record<string, (body: Record<string, unknown>) => object>> = {
  token: ({ access_token, token_type, expires_in, scope }) => ({
    ...{ access_token, token_type, expires_in, scope },
  }),
  introspection: ({ active, client_id, exp, scope }) =>
    active ? { active, client_id, exp, scope } : { active: false },
  revocation: () => ({ success: true }),
};

/** A signed token is none of these endpoints': like any other that they do not know (RFC 7662, 7009). */
const isForeignKind = (body: unknown): boolean =>
  isRefusal(400, body) && body.error === 'unsupported_token_type';

const answer = (ctx: KoaContextWithOIDC, challenge: string): void => {
  const shape = shapes[ctx.oidc.route];
  if (isForeignKind(ctx.body)) ctx.status = 200;
  if (isRefusal(ctx.status, ctx.body)) {
    const { error } = ctx.body;
    (ctx.res as Response).locals.errorCode = error;
    if (ctx.status === 401) ctx.set('WWW-Authenticate', challenge);
    ctx.body = inBothShapes(ctx.body);
  } else if (shape) {
    ctx.body = shape(Object(ctx.body));
  }
  ctx.set('Cache-Control', 'no-store');
};

/**
 * Makes a provider part of the app: gives a function that makes the handler of an endpoint, from the
 * parameters that the endpoint knows. What the provider cannot answer reaches the app's error handler.
 */
export const forwardTo = (provider: Provider): ((known: readonly string[]) => RequestHandler) => {
  const challenge = `Basic realm="${provider.issuer}", charset="UTF-8"`;
  const unanswered = new WeakMap<ServerResponse, NextFunction>();

  provider.use(async (ctx, next) => {
    // The provider would let every origin in; whom to let in is the app's decision (decision B9).
    const allowed = ctx.response.get('Access-Control-Allow-Origin');
    await next();
    if (!allowed) {
      ctx.remove('Access-Control-Allow-Origin');
      ctx.remove('Access-Control-Expose-Headers');
    }
    if (ctx.respond !== false) answer(ctx as KoaContextWithOIDC, challenge);
  });
  provider.on('server_error', (ctx, error) => {
    ctx.respond = false;
    unanswered.get(ctx.res)?.(error);
  });

  const handle = provider.callback();
  return (known) =>
    async function forward(req, res, next) {
      const request = await providerRequest(req, res, { known, challenge });
      unanswered.set(res, next);
      await handle(request, res);
    };
};
