import type { ServerResponse } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import type { KoaContextWithOIDC, Provider } from 'oidc-provider';

export interface Refusal {
  readonly error: string;
  readonly error_description?: string;
}

export const isRefusal = (status: number, body: unknown): body is Refusal =>
  status >= 400 && typeof body === 'object' && body !== null && 'error' in body;

/** Both kinds of client can read it: `{error, error_description}` and `{success, message}` (decision B1). */
const inBothShapes = ({ error, error_description = error }: Refusal): object => ({
  error,
  error_description,
  success: false,
  message: error_description,
});

/** By route of the provider: what is promised for its answer, and not a member more. */
export type Shapes = Readonly<
  Record<string, (body: Record<string, unknown>, ctx: KoaContextWithOIDC) => object>
>;

const answer = (ctx: KoaContextWithOIDC, shapes: Shapes, challenge: string): void => {
  const shape = shapes[ctx.oidc.route];
  if (isRefusal(ctx.status, ctx.body)) {
    const { error } = ctx.body;
    (ctx.res as Response).locals.errorCode = error;
    if (ctx.status === 401) ctx.set('WWW-Authenticate', challenge);
    ctx.body = inBothShapes(ctx.body);
  } else if (shape) {
    ctx.body = shape(Object(ctx.body), ctx);
  }
  ctx.set('Cache-Control', 'no-store');
};

/** A step of a provider, which is a Koa application. */
export type Middleware = Parameters<Provider['use']>[0];

/** Has a provider answer a request that was made for it. */
export type Handle = (request: Request, res: Response, next: NextFunction) => Promise<void>;

/** The challenge of RFC 7617 that an unauthenticated client gets. */
export const challengeOf = (issuer: string): string => `Basic realm="${issuer}", charset="UTF-8"`;

/**
 * Makes a provider part of the app. What it cannot answer reaches the app's error handler.
 */
export const handledBy = (provider: Provider, shapes: Shapes): Handle => {
  const challenge = challengeOf(provider.issuer);
  const unanswered = new WeakMap<ServerResponse, NextFunction>();

  provider.use(async (ctx, next) => {
    // The provider would let every origin in; whom to let in is the app's decision (decision B9).
    const allowed = ctx.response.get('Access-Control-Allow-Origin');
    await next();
    if (!allowed) {
      ctx.remove('Access-Control-Allow-Origin');
      ctx.remove('Access-Control-Expose-Headers');
    }
    if (ctx.respond !== false) answer(ctx as KoaContextWithOIDC, shapes, challenge);
  });
  provider.on('server_error', (ctx, error) => {
    ctx.respond = false;
    unanswered.get(ctx.res)?.(error);
  });

  const callback = provider.callback();
  return async (request, res, next) => {
    unanswered.set(res, next);
    await callback(request, res);
  };
};
