import type { ServerResponse } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import type { KoaContextWithOIDC, Provider } from 'oidc-provider';

/** An error of OAuth (RFC 6749 section 5.2). */
export interface Refusal {
  readonly error: string;
  readonly error_description?: string;
}

export const isRefusal = (status: number, body: unknown): body is Refusal =>
  status >= 400 && typeof body === 'object' && body !== null && 'error' in body;

/** Adds `{success, message}` to `{error, error_description}`, for clients of either kind (decision B1). */
const inBothShapes = ({ error, error_description = error }: Refusal): object => ({
  error,
  error_description,
  success: false,
  message: error_description,
});

/** By route of the provider: the documented members of its answer, and no others. */
export type ResponseShapes = Readonly<
  Record<string, (body: Record<string, unknown>, ctx: KoaContextWithOIDC) => object>
>;

const shapeResponse = (
  ctx: KoaContextWithOIDC,
  shapes: ResponseShapes,
  challenge: string,
): void => {
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

/** Middleware of a provider, which is a Koa application. */
export type Middleware = Parameters<Provider['use']>[0];

/** The challenge of RFC 7617 that an unauthenticated client gets. */
export const challengeOf = (issuer: string): string => `Basic realm="${issuer}", charset="UTF-8"`;

/**
 * A handler that passes requests to a provider, with its answers in our shapes. The provider's server errors
 * go to the app's error handler.
 */
export const providerHandler = (
  provider: Provider,
  shapes: ResponseShapes,
): ((request: Request, res: Response, next: NextFunction) => Promise<void>) => {
  const challenge = challengeOf(provider.issuer);
  const errorHandlers = new WeakMap<ServerResponse, NextFunction>();

  provider.use(async (ctx, next) => {
    // The provider would allow every origin; which origins to allow is the app's decision (decision B9).
    const allowed = ctx.response.get('Access-Control-Allow-Origin');
    await next();
    if (!allowed) {
      ctx.remove('Access-Control-Allow-Origin');
      ctx.remove('Access-Control-Expose-Headers');
    }
    if (ctx.respond !== false) shapeResponse(ctx as KoaContextWithOIDC, shapes, challenge);
  });
  provider.on('server_error', (ctx, error) => {
    ctx.respond = false;
    errorHandlers.get(ctx.res)?.(error);
  });

  const callback = provider.callback();
  return async (request, res, next) => {
    errorHandlers.set(res, next);
    await callback(request, res);
  };
};
