import { HttpError, send } from '@tessera/http-kit';
import type { Request, RequestHandler, Response } from 'express';
import type { UserCaller } from '../tokens/caller.ts';
import { type Brand, sendPage, type View } from './layout.ts';
import type { AnyPage, FileDownload, PageOptions } from './page.ts';
import type { ReauthenticationPrompt } from './reauthentication.ts';
import { Redirect, signInAddress, type Visit, visitOf } from './visit.ts';

const SEE_OTHER = 303;

/** Whether the session has ended while the form was processed. */
const hasSessionEnded = (req: Request, error: unknown): boolean =>
  req.method === 'POST' && error instanceof HttpError && error.code === 'unauthenticated';

/** Turns a thrown `Redirect` into a redirect, and the end of the session into one to the sign-in. */
export const withRedirects =
  (
    { issuer }: PageOptions['config'],
    handle: (req: Request, res: Response) => Promise<void>,
  ): RequestHandler =>
  async (req, res) => {
    try {
      await handle(req, res);
    } catch (error) {
      if (error instanceof Redirect) res.redirect(SEE_OTHER, error.address);
      else if (hasSessionEnded(req, error)) res.redirect(SEE_OTHER, signInAddress(req, issuer));
      else throw error;
    }
  };

/** Reads the visit of a page. */
export const visitOfPage = async (
  { form, isForAnybody = false }: AnyPage,
  options: PageOptions,
  req: Request,
  res: Response,
  language?: string,
): Promise<Visit> => {
  const visit = await visitOf(options, req, res, language);
  const { anybody, user } = visit.tokens;
  return {
    ...visit,
    formToken: isForAnybody ? anybody : user,
    hasForm: form !== undefined,
    isDownload: form?.isDownload ?? false,
  };
};

/** Whether a page may ask for reauthentication. */
export const mayReauthenticate = ({
  isSensitive = false,
  hasSensitiveForm = false,
}: AnyPage): boolean => isSensitive || hasSensitiveForm;

/**
 * The user to reauthenticate on a page; null if the page never asks or `open` rejects the visitor anyway.
 */
export const userToReauthenticate = (page: AnyPage, { user }: Visit): UserCaller | null =>
  mayReauthenticate(page) && user?.restriction === null ? user : null;

/** Sends a prompt for reauthentication, with the status of the error that it shows. */
export const sendPrompt = (
  res: Response,
  visit: Visit,
  { view, refusal }: ReauthenticationPrompt,
  brand: Brand,
): void => {
  if (refusal) {
    res.locals.errorCode = refusal.code;
    res.status(refusal.status).set(refusal.headers);
  }
  sendPage(res, { ...visit, hasForm: true }, view, brand);
};

/** Adds the banner to account pages. */
const withBanner = async (
  visit: Visit,
  view: View,
  { accountBanner }: PageOptions,
): Promise<View> =>
  view.section === undefined ? view : { ...view, banner: await accountBanner(visit) };

/** Sends a page. */
export const sendView = async (
  res: Response,
  visit: Visit,
  view: View,
  options: PageOptions,
): Promise<void> => sendPage(res, visit, await withBanner(visit, view, options), options.brand);

/** Sends the result of a form: a redirect or a file. */
export const sendResult = (res: Response, next: string | FileDownload): Promise<void> | void =>
  typeof next === 'string'
    ? res.redirect(SEE_OTHER, next)
    : send(res, next, { 'Content-Disposition': `attachment; filename="${next.name}"` });
