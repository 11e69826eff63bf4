import { type Fields, type OutOf, openShape, readTexts, validate } from '@tessera/fields';
import { HttpError, type Limits, validationFailed } from '@tessera/http-kit';
import type { Request, RequestHandler, Response } from 'express';
import { forged } from './forgery.ts';
import type { AnyPage, Page, PageOptions } from './page.ts';
import {
  mayReauthenticate,
  sendPrompt,
  sendResult,
  sendView,
  userToReauthenticate,
  visitOfPage,
  withRedirects,
} from './page-response.ts';
import { newPasswordErrors, stateAfter } from './problems.ts';
import { type FilePlace, hasFile, readForm } from './read-form.ts';
import { isAttempt, methodOf, type NextStep, type Values } from './reauthentication.ts';
import { Redirect, type Visit } from './visit.ts';

/** Validates the values of a form. 422 names every invalid field, including a new password. */
const validated = <F extends Fields>(
  { fields, newPassword }: Pick<NonNullable<Page<unknown, F>['form']>, 'fields' | 'newPassword'>,
  values: Record<string, string>,
  minLength: number,
): OutOf<F> => {
  const shape = openShape(fields);
  const result = validate(shape, readTexts(shape, values), 'form');
  if (result.ok) return result.value as OutOf<F>;
  const errors = newPassword === undefined ? {} : newPasswordErrors(newPassword, values, minLength);
  throw validationFailed({ ...errors, ...result.errors });
};

/** Counts a request; returns the error if the limit is exceeded. */
const countRequest = (
  limiter: RequestHandler,
  req: Request,
  res: Response,
): Promise<HttpError | null> =>
  new Promise((resolve, reject) => {
    limiter(req, res, (error?: unknown) => {
      if (error === undefined) resolve(null);
      else if (error instanceof HttpError) resolve(error);
      else reject(error);
    });
  });

/** The limiters of a class: by address and by principal. */
const limitersOf = (limits: Limits, limitClass: string) => ({
  address: limits.address(limitClass),
  principal: limits.principal(limitClass),
});

/** The page's own URL without a chosen language, which is kept in a cookie. */
const addressOf = ({ req, query }: Visit): string => {
  const { ui_locales: _, ...rest } = query;
  const search = new URLSearchParams(rest);
  return `${req.path}${search.size > 0 ? `?${search}` : ''}`;
};

/** Form of a page without one: reopens the page after reauthentication. */
const reopening = { fields: {}, submit: addressOf };

/**
 * Handles reauthentication before the form reaches its page. The form has already been read and counted, so it
 * is known whether there were too many attempts.
 */
const reauthenticateFirst = async (
  page: AnyPage,
  visit: Visit,
  { reauthentication }: PageOptions,
  sent: Values,
  tooMany: HttpError | null,
): Promise<NextStep> => {
  const user = userToReauthenticate(page, visit);
  const isConfirmation = isReauthentication(page, sent);
  if (!user && isConfirmation) {
    // The session has ended or is locked: `open` redirects.
    await page.open(visit);
    throw forged();
  }
  if (!user) return { kind: 'go_on', values: sent };
  if (isConfirmation) return reauthentication.confirm(visit, user, sent, tooMany);
  if (!page.isSensitive || (await reauthentication.isRecent(user))) {
    return { kind: 'go_on', values: sent };
  }
  return { kind: 'ask', prompt: await reauthentication.prompt(visit, user, sent, tooMany) };
};

/** Checks permission and limits, and takes a place for the file, before reading an upload. */
const beginUpload = async (
  page: AnyPage,
  options: PageOptions,
  limiter: RequestHandler,
  req: Request,
  res: Response,
): Promise<FilePlace | undefined> => {
  const file = page.form?.file;
  if (!file) return undefined;
  const tooMany = await countRequest(limiter, req, res);
  if (tooMany) throw tooMany;
  options.forgery.requireSameOrigin(req);
  const data = await page.open(await visitOfPage(page, options, req, res));
  const { 'content-length': announced } = req.headers;
  return hasFile(req)
    ? file.begin(data, announced === undefined ? null : Number(announced))
    : undefined;
};

/** Whether the form is a reauthentication. Only pages that may ask count it as such. */
const isReauthentication = (page: AnyPage, { continuation }: Values): boolean =>
  continuation !== undefined && mayReauthenticate(page);

const needsReauthentication = (error: unknown): boolean =>
  error instanceof HttpError && error.code === 'reauthentication_required';

/**
 * On success redirects to a GET, so that a reload does not resubmit; otherwise shows the form again with the
 * typed values, except secrets. This includes a change of language, which only re-renders, and rate limits,
 * which are counted here because the form must be read to be kept.
 */
export const submitForm = (page: AnyPage, options: PageOptions): RequestHandler => {
  const { open, view, limit = 'form', isForAnybody = false } = page;
  const form: NonNullable<AnyPage['form']> = page.form ?? reopening;
  const { forgery, brand, minLength, limits, reauthentication } = options;
  const limiters = {
    own: limitersOf(limits, limit),
    // The limit classes of the JSON routes that confirm a password or code.
    password: limitersOf(limits, 'password'),
    code: limitersOf(limits, 'twoFactor'),
  };
  const submit = async (req: Request, res: Response, place: FilePlace | undefined) => {
    const { values: sent, file, problem } = await readForm(req, res, form.file, place);
    const isCounted = isAttempt(sent);
    const { address, principal } =
      limiters[isReauthentication(page, sent) ? methodOf(sent) : 'own'];
    const fromAddress = isCounted && !form.file ? await countRequest(address, req, res) : null;
    if (fromAddress && !forgery.isSameOrigin(req)) throw fromAddress;
    forgery.requireSameOrigin(req);
    const visit = await visitOfPage(page, options, req, res, sent.ui_locales);
    const isByUser = isCounted && !isForAnybody && visit.user !== null;
    if (isByUser) res.locals.caller = visit.user;
    const tooMany = fromAddress ?? (isByUser ? await countRequest(principal, req, res) : null);
    const step = await reauthenticateFirst(page, visit, options, sent, tooMany);
    if (step.kind === 'ask') return sendPrompt(res, visit, step.prompt, brand);
    if (step.kind === 'reopen') throw new Redirect(addressOf(visit));
    const { values } = step;
    const data = await open(visit);
    if (!isAttempt(values)) {
      await sendView(res, visit, view(visit, data, { values, errors: {} }), options);
      return;
    }
    try {
      if (tooMany) throw tooMany;
      forgery.requireToken(req, values.form_token, isForAnybody ? null : (visit.user?.id ?? ''));
      if (problem) throw problem;
      const given = validated(form, values, minLength);
      await sendResult(res, await form.submit(visit, given, data, file));
    } catch (error) {
      if (error instanceof Redirect || res.headersSent) throw error;
      const user = userToReauthenticate(page, visit);
      if (user && needsReauthentication(error)) {
        const prompt = await reauthentication.prompt(visit, user, values);
        return sendPrompt(res, visit, prompt, brand);
      }
      const { state, refusal } = stateAfter(visit, error, values, minLength);
      res.locals.errorCode = refusal.code;
      res.status(refusal.status).set(refusal.headers);
      await sendView(res, visit, { ...view(visit, data, state), hasErrors: true }, options);
    }
  };
  return withRedirects(options.config, async (req, res) => {
    const place = await beginUpload(page, options, limiters.own.address, req, res);
    try {
      await submit(req, res, place);
    } finally {
      place?.leave();
    }
  });
};
