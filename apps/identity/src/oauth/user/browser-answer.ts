import { HttpError } from '@tessera/http-kit';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { isRefusal, type Middleware } from '../forward.ts';

const FOUND = 302;

/** Whether a request waits for consent, or has waited for it. */
const isAboutConsent = ({ oidc }: KoaContextWithOIDC): boolean =>
  oidc?.entities.Interaction?.prompt.name === 'consent';

/**
 * The provider's answers as a browser gets them here: redirects are 302 without a body, and of its cookies
 * only the one goes out by which a request that waits for consent is taken up again. The session's is the
 * sign-in's alone, and the other pages need none.
 */
export const asBrowserAnswer =
  (resumeCookie: string): Middleware =>
  async (ctx, next) => {
    await next();
    const cookies = [ctx.response.headers['set-cookie'] ?? []].flat();
    const kept = cookies.filter((cookie) => cookie.startsWith(`${resumeCookie}=`));
    ctx.remove('Set-Cookie');
    // The app tells a person of it on a page, and a program in JSON.
    if (ctx.method === 'GET' && isRefusal(ctx.status, ctx.body)) {
      const { error, error_description: description = error } = ctx.body;
      ctx.app.emit('server_error', ctx, new HttpError(ctx.status, error, description));
      return;
    }
    if (kept.length > 0 && isAboutConsent(ctx as KoaContextWithOIDC)) ctx.set('Set-Cookie', kept);
    if (ctx.status < 300 || ctx.status >= 400) return;
    ctx.status = FOUND;
    ctx.body = '';
    ctx.remove('Content-Type');
  };
