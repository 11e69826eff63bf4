import { type Fields, type OutOf, openShape, readTexts, validate } from '@tessera/fields';
import {
  forwarded,
  HttpError,
  type Limits,
  type RouteTable,
  type Sent,
  send,
  validationFailed,
} from '@tessera/http-kit';
import type { Request, RequestHandler, Response } from 'express';
import type { Content } from '../html.ts';
import type { UserCaller } from '../tokens/caller.ts';
import { emptyForm, type FormState } from './form.ts';
import { type Brand, sendPage, type View } from './layout.ts';
import { type NewPasswordField, newPasswordErrors, stateAfter } from './problems.ts';
import { type FileField, readForm } from './read-form.ts';
import type { PageReauthentication, Step } from './reauthentication.ts';
import { Elsewhere, type Visit, type Visits, visitOf } from './visit.ts';

/** A page as it is written: what it needs, what it shows and what becomes of its form. */
export interface Page<Data, F extends Fields> {
  readonly path: string;
  /** The class of limits that counts its form: that of the JSON route that does the same; `form` unless told. */
  readonly limit?: string;
  /** Opening it and sending its form need a recent authentication (decision I19), which is asked for here. */
  readonly isSensitive?: boolean;
  /** The form does not act for who is signed in, so it stays good when that changes in another tab. */
  readonly isForAnybody?: boolean;
  /** What showing and answering it need. Throws `Elsewhere` where they have no business here. */
  open(visit: Visit): Promise<Data> | Data;
  view(visit: Visit, data: Data, form: FormState): View;
  readonly form?: {
    readonly fields: F;
    /** The field with a new password, whose rules are told together with what else is wrong. */
    readonly newPassword?: NewPasswordField;
    /** The field that sends a file, and the most bytes of it. */
    readonly file?: FileField;
    /**
     * Does what was asked for, and gives the address to go on at, or a file to save: then the browser stays on the
     * page. `file` is what was sent in the field for it; null where nothing was.
     */
    submit(
      visit: Visit,
      given: OutOf<F>,
      data: Data,
      file: Buffer | null,
    ): Promise<string | SentFile> | string;
  };
}

/** A file that is sent while it is made. */
export interface SentFile extends Sent {
  readonly name: string;
}

/** A page, whatever its types were. */
export type AnyPage = Page<unknown, Fields>;

export const page = <Data, const F extends Fields = Record<never, never>>(
  written: Page<Data, F>,
): AnyPage => written as unknown as AnyPage;

export interface PageOptions extends Visits {
  readonly brand: Brand;
  /** Fewest characters of a new password. */
  readonly minLength: number;
  readonly limits: Limits;
  readonly reauthentication: PageReauthentication;
  /** What every account page says above itself. */
  readonly accountBanner: (visit: Visit) => Promise<Content>;
}

const SEE_OTHER = 303;
/** What a form says, by its fields. 422 names every field that is wrong, a new password included. */
const checked = <F extends Fields>(
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

/** Counts a request; the refusal where it is one too many. */
const counted = (limiter: RequestHandler, req: Request, res: Response): Promise<HttpError | null> =>
  new Promise((resolve, reject) => {
    limiter(req, res, (error?: unknown) => {
      if (error === undefined) resolve(null);
      else if (error instanceof HttpError) resolve(error);
      else reject(error);
    });
  });

/** Wherever something throws `Elsewhere`, the browser goes there. */
const orElsewhere =
  (handle: (req: Request, res: Response) => Promise<void>): RequestHandler =>
  async (req, res) => {
    try {
      await handle(req, res);
    } catch (error) {
      if (!(error instanceof Elsewhere)) throw error;
      res.redirect(SEE_OTHER, error.address);
    }
  };

/** A visit of this page. */
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

/** Who has to have authenticated recently to use a page; null where nobody has to, or `open` refuses anyway. */
const sensitiveFor = ({ isSensitive = false }: AnyPage, { user }: Visit): UserCaller | null =>
  isSensitive && user?.restriction === null ? user : null;

/** A view as it is sent: an account page has its banner. */
const withBanner = async (
  visit: Visit,
  view: View,
  { accountBanner }: PageOptions,
): Promise<View> =>
  view.section === undefined ? view : { ...view, banner: await accountBanner(visit) };

const answer = async (
  res: Response,
  visit: Visit,
  view: View,
  options: PageOptions,
): Promise<void> => sendPage(res, visit, await withBanner(visit, view, options), options.brand);

const goOn = (res: Response, next: string | SentFile): Promise<void> | void =>
  typeof next === 'string'
    ? res.redirect(SEE_OTHER, next)
    : send(res, next, { 'Content-Disposition': `attachment; filename="${next.name}"` });

const showing = (page: AnyPage, options: PageOptions): RequestHandler =>
  orElsewhere(async (req, res) => {
    const { open, view } = page;
    const visit = await visitOfPage(page, options, req, res);
    const user = sensitiveFor(page, visit);
    const first = user && (await options.reauthentication.beforeShowing(visit, user));
    const shown = first ?? view(visit, await open(visit), emptyForm);
    await answer(res, first ? { ...visit, hasForm: true } : visit, shown, options);
  });

/** What a sensitive page does with a form; on any other page, and for nobody, the form goes on as it is. */
const afterReauthentication = async (
  page: AnyPage,
  visit: Visit,
  { reauthentication }: PageOptions,
  sent: Readonly<Record<string, string>>,
): Promise<Step> => {
  const user = sensitiveFor(page, visit);
  if (!user) return { kind: 'go_on', values: sent };
  return reauthentication.beforeSubmitting(visit, user, sent);
};

/** Files are large: nobody sends one who could not send the form, and none is read before it is counted. */
const admitFile = async (
  page: AnyPage,
  options: PageOptions,
  limiter: RequestHandler,
  req: Request,
  res: Response,
): Promise<void> => {
  const tooMany = await counted(limiter, req, res);
  if (tooMany) throw tooMany;
  options.forgery.demandFromHere(req);
  await page.open(await visitOfPage(page, options, req, res));
};

/**
 * On success the browser goes on with a GET, so that nothing is sent twice; else the form is shown again
 * with what was typed, but no secrets. That includes a change of language, which does nothing else, and
 * too many attempts: these are counted here and not before, as the form has to be read to be kept.
 */
const submitting = (
  page: AnyPage,
  form: NonNullable<AnyPage['form']>,
  options: PageOptions,
): RequestHandler => {
  const { open, view, limit = 'form', isForAnybody = false } = page;
  const { forgery, minLength, limits } = options;
  const limiter = limits.address(limit);
  return orElsewhere(async (req, res) => {
    if (form.file) await admitFile(page, options, limiter, req, res);
    const { values: sent, file, problem } = await readForm(req, res, form.file);
    const language = sent.ui_locales;
    const isAttempt = language === undefined;
    const tooMany = isAttempt && !form.file ? await counted(limiter, req, res) : null;
    if (tooMany && !forgery.isFromHere(req)) throw tooMany;
    forgery.demandFromHere(req);
    const visit = await visitOfPage(page, options, req, res, language);
    const step = tooMany ? null : await afterReauthentication(page, visit, options, sent);
    if (step?.kind === 'ask') {
      const { view, refusal } = step;
      if (refusal) res.status(refusal.status).set(refusal.headers);
      await answer(res, visit, view, options);
      return;
    }
    if (step?.kind === 'reopen') throw new Elsewhere(req.originalUrl);
    const values = step?.values ?? sent;
    const data = await open(visit);
    if (!isAttempt) {
      await answer(res, visit, view(visit, data, { values, errors: {} }), options);
      return;
    }
    try {
      if (tooMany) throw tooMany;
      forgery.demandToken(req, values.form_token, isForAnybody ? null : (visit.user?.id ?? ''));
      if (problem) throw problem;
      const given = checked(form, values, minLength);
      await goOn(res, await form.submit(visit, given, data, file));
    } catch (error) {
      if (error instanceof Elsewhere || res.headersSent) throw error;
      const { state, refusal } = stateAfter(visit, error, values, minLength);
      res.locals.errorCode = refusal.code;
      res.status(refusal.status).set(refusal.headers);
      await answer(res, visit, { ...view(visit, data, state), hasErrors: true }, options);
    }
  });
};

/**
 * Routes of pages. They are limited and mounted like all others, and stand in no document: that is for
 * programs, which have the JSON routes, and what a page looks like is promised to nobody.
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
      forward: showing(one, options),
    });
    if (!form) return [[`${name}Page`, shown] as const];
    const sent = forwarded({
      ...described,
      method: 'post',
      path,
      summary: `Form: ${name}`,
      forward: submitting(one, form, options),
    });
    return [[`${name}Page`, shown] as const, [`${name}Form`, sent] as const];
  });
  return Object.fromEntries(routes);
};
