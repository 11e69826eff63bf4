import type { HttpError } from '@tessera/http-kit';
import type { Request, Response } from 'express';
import type { Config } from '../config.ts';
import { html } from '../http/html.ts';
import { link } from './form.ts';
import { type Brand, sendPage } from './layout.ts';
import { alertOfTenant } from './tenant-state.ts';
import type { Texts } from './texts/texts.ts';
import { pageAddress, readerOf, returnToOf } from './visit.ts';

/** Whether scripts of another origin may read the response. */
const isForScripts = (res: Response): boolean =>
  res.get('Access-Control-Allow-Origin') !== undefined;

/**
 * Whether the client expects a page: browsers list HTML first in Accept. Paths below `/api` always get JSON, and so do
 * scripts of other origins.
 */
const expectsPage = (req: Request, res: Response): boolean =>
  res.locals.isPage === true ||
  (!req.path.startsWith('/api/') && !isForScripts(res) && req.accepts(['json', 'html']) === 'html');

const explanationOf = (error: HttpError, texts: Texts): string => {
  const { status, code, headers } = error;
  const { failure, alerts, problems, notices } = texts;
  if (status === 429) return alerts.tooMany(Number(headers['Retry-After'] ?? 60));
  if (status === 422) return problems.token;
  if (code === 'unauthenticated') return notices.expired;
  if (status === 409) return alerts.conflict;
  if (status === 404) return failure.notFound;
  if (status === 405) return failure.notAllowed;
  if (code === 'tenant_suspended') return alertOfTenant(texts, error);
  if (code === 'forged_request') return alerts.forged;
  if (status === 403) return failure.forbidden;
  if (status === 503) return failure.unavailable;
  return status >= 500 ? failure.internal : failure.badRequest;
};

/** Renders an error as a page if the client expects one; returns whether it did. */
export const renderFailure =
  (config: Brand & Pick<Config, 'issuer'>) =>
  (error: HttpError, req: Request, res: Response): boolean => {
    if (!expectsPage(req, res)) return false;
    res.locals.isPage = true;
    const reader = readerOf(req);
    const { failure, back } = reader.texts;
    const titles: Readonly<Record<number, string>> = {
      404: failure.notFoundTitle,
      429: failure.tooMany,
    };
    // OAuth error codes are meant for the application's developer, so they stay in English.
    const details =
      error.status === 400 && html`<p class="hint" lang="en">${error.code}: ${error.message}</p>`;
    const reference =
      error.status >= 500 &&
      html`<p class="hint">${failure.reference}: ${String(res.get('X-Request-Id'))}</p>`;
    sendPage(
      res,
      reader,
      {
        title: titles[error.status] ?? failure.title,
        lead: explanationOf(error, reader.texts),
        body: [
          details,
          reference,
          error.status !== 400 &&
            link(
              pageAddress({ returnTo: returnToOf(req, config.issuer), next: null }, '/sign-in'),
              back,
            ),
        ],
      },
      config,
    );
    return true;
  };
