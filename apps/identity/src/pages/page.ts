import { type Fields, type OutOf, openShape, readTexts, validate } from '@tessera/fields';
import {
  forwarded,
  HttpError,
  type Limits,
  type RouteTable,
  type StreamedBody,
  send,
  validationFailed,
} from '@tessera/http-kit';
import type { Request, RequestHandler, Response } from 'express';
import type { Content } from '../http/html.ts';
import type { UserCaller } from '../tokens/caller.ts';
import { forged } from './forgery.ts';
import { emptyForm, type FormState } from './form.ts';
import { type Brand, sendPage, type View } from './layout.ts';
import { type NewPasswordField, newPasswordErrors, stateAfter } from './problems.ts';
import { type FileField, readForm } from './read-form.ts';
import {
  isAttempt,
  methodOf,
  type NextStep,
  type PageReauthentication,
  type ReauthenticationPrompt,
  type Values,
} from './reauthentication.ts';
import { Redirect, type Visit, type VisitDependencies, visitOf } from './visit.ts';

/** The declaration of a page: the data it needs, its view and its form. */
export interface Page<Data, F extends Fields> {
  readonly path: string;
  /** Rate limit class of the form, that of the equivalent JSON route; default `form`. */
  readonly limit?: string;
  /**
   * Opening the page and submitting its form need a recent authentication (decision I19); the page asks for it.
   */
  readonly isSensitive?: boolean;
  /** Only submitting the form may need a recent authentication. */
  readonly hasSensitiveForm?: boolean;
  /**
   * The form does not act for the signed-in user, so it remains valid when another tab signs in as another
   * user.
   */
  readonly isForAnybody?: boolean;
  /** Loads the data of the page. Throws `Redirect` if the visitor must go to another page. */
  open(visit: Visit): Promise<Data> | Data;
  view(visit: Visit, data: Data, form: FormState): View;
  readonly form?: {
    readonly fields: F;
    /** The field with a new password, whose rules are reported together with other errors. */
    readonly newPassword?: NewPasswordField;
    /** The upload field and its size limit. */
    readonly file?: FileField;
    /**
     * Performs the action and returns the URL to go to, or a file to download, in which case the browser stays
     * on the page. `file` is the uploaded file, null if there is none.
     */
    submit(
      visit: Visit,
      given: OutOf<F>,
      data: Data,
      file: Buffer | null,
    ): Promise<string | SentFile> | string;
  };
}

/** A file that is streamed to the browser. */
export interface SentFile extends StreamedBody {
  readonly name: string;
}

/** A page with erased type parameters. */
export type AnyPage = Page<unknown, Fields>;

export const page = <Data, const F extends Fields = Record<never, never>>(
  written: Page<Data, F>,
): AnyPage => written as unknown as AnyPage;

export interface PageOptions extends VisitDependencies {
  readonly brand: Brand;
  /** Minimum length of a new password. */
  readonly minLength: number;
  readonly limits: Limits;
  readonly reauthentication: PageReauthentication;
  /** Banner above account pages. */
  readonly accountBanner: (visit: Visit) => Promise<Content>;
}

const SEE_OTHER = 303;

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

/** Turns a thrown `Redirect` into a redirect. */
const withRedirects =
  (handle: (req: Request, res: Response) => Promise<void>): RequestHandler =>
  async (req, res) => {
    try {
      await handle(req, res);
    } catch (error) {
      if (!(error instanceof Redirect)) throw error;
      res.redirect(SEE_OTHER, error.address);
    }
  };

/** Reads the visit of a page. */
const visitOfPage = async (
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
  };
};

/** Whether a page may ask for reauthentication. */
const mayReauthenticate = ({ isSensitive = false, hasSensitiveForm = false }: AnyPage): boolean =>
  isSensitive || hasSensitiveForm;

/**
 * The user to reauthenticate on a page; null if the page never asks or `open` rejects the visitor anyway.
 */
const userToReauthenticate = (page: AnyPage, { user }: Visit): UserCaller | null =>
  mayReauthenticate(page) && user?.restriction === null ? user : null;

const sendPrompt = (
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

const sendView = async (
  res: Response,
  visit: Visit,
  view: View,
  options: PageOptions,
): Promise<void> => sendPage(res, visit, await withBanner(visit, view, options), options.brand);

const sendResult = (res: Response, next: string | SentFile): Promise<void> | void =>
  typeof next === 'string'
    ? res.redirect(SEE_OTHER, next)
    : send(res, next, { 'Content-Disposition': `attachment; filename="${next.name}"` });

const showPage = (page: AnyPage, options: PageOptions): RequestHandler =>
  withRedirects(async (req, res) => {
    const { open, view, isSensitive = false } = page;
    const { reauthentication, brand } = options;
    const visit = await visitOfPage(page, options, req, res);
    const user = isSensitive ? userToReauthenticate(page, visit) : null;
    if (user && !(await reauthentication.isRecent(user))) {
      sendPrompt(res, visit, await reauthentication.prompt(visit, user, null), brand);
      return;
    }
    await sendView(res, visit, view(visit, await open(visit), emptyForm), options);
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

/** Checks permission and limits before reading an upload. */
const admitUpload = async (
  page: AnyPage,
  options: PageOptions,
  limiter: RequestHandler,
  req: Request,
  res: Response,
): Promise<void> => {
  const tooMany = await countRequest(limiter, req, res);
  if (tooMany) throw tooMany;
  options.forgery.requireSameOrigin(req);
  await page.open(await visitOfPage(page, options, req, res));
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
const submitForm = (page: AnyPage, options: PageOptions): RequestHandler => {
  const { open, view, limit = 'form', isForAnybody = false } = page;
  const form: NonNullable<AnyPage['form']> = page.form ?? reopening;
  const { forgery, brand, minLength, limits, reauthentication } = options;
  const limiters = {
    own: limitersOf(limits, limit),
    // The limit classes of the JSON routes that confirm a password or code.
    password: limitersOf(limits, 'password'),
    code: limitersOf(limits, 'twoFactor'),
  };
  return withRedirects(async (req, res) => {
    if (form.file) await admitUpload(page, options, limiters.own.address, req, res);
    const { values: sent, file, problem } = await readForm(req, res, form.file);
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
  });
};

/**
 * The routes of pages. They are not part of the OpenAPI document: programs use the JSON routes, and pages may
 * change at any time.
 */
export const routesOf = (
  pages: Readonly<Record<string, AnyPage>>,
  options: PageOptions,
): RouteTable => {
  const described = { isPage: true, responses: {} } as const;
  const routes = Object.entries(pages).flatMap(([name, one]) => {
    const { path, form } = one;
    const shown = forwarded({
      ...described,
      method: 'get',
      path,
      summary: `Page: ${name}`,
      forward: showPage(one, options),
    });
    if (!form && !one.isSensitive) return [[`${name}Page`, shown] as const];
    const sent = forwarded({
      ...described,
      method: 'post',
      path,
      summary: `Form: ${name}`,
      forward: submitForm(one, options),
    });
    return [[`${name}Page`, shown] as const, [`${name}Form`, sent] as const];
  });
  return Object.fromEntries(routes);
};
