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
import type { Content } from '../http/html.ts';
import type { UserCaller } from '../tokens/caller.ts';
import { forged } from './forgery.ts';
import { emptyForm, type FormState } from './form.ts';
import { type Brand, sendPage, type View } from './layout.ts';
import { type NewPasswordField, newPasswordErrors, stateAfter } from './problems.ts';
import { type FileField, readForm } from './read-form.ts';
import {
  isAttempt,
  type PageReauthentication,
  type Question,
  type Step,
  type Values,
  wayOf,
} from './reauthentication.ts';
import { Elsewhere, type Visit, type Visits, visitOf } from './visit.ts';

/** A page as it is written: what it needs, what it shows and what becomes of its form. */
export interface Page<Data, F extends Fields> {
  readonly path: string;
  /** The class of limits that counts its form: that of the JSON route that does the same; `form` unless told. */
  readonly limit?: string;
  /** Opening it and sending its form need a recent authentication (decision I19), which is asked for here. */
  readonly isSensitive?: boolean;
  /** Anybody may see it who may open it; what its form does may need a recent authentication. */
  readonly hasSensitiveForm?: boolean;
  /** The form does not act for the signed-in user, so it stays good when another tab signs somebody else in. */
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

/** The two stages of a class. */
const limitersOf = (limits: Limits, limitClass: string) => ({
  address: limits.address(limitClass),
  principal: limits.principal(limitClass),
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

/** Whether a page ever asks people to authenticate again. */
const asksAgain = ({ isSensitive = false, hasSensitiveForm = false }: AnyPage): boolean =>
  isSensitive || hasSensitiveForm;

/** Who can be asked to authenticate again on a page; null where nobody is, or `open` refuses anyway. */
const askableOn = (page: AnyPage, { user }: Visit): UserCaller | null =>
  asksAgain(page) && user?.restriction === null ? user : null;

const sendQuestion = (
  res: Response,
  visit: Visit,
  { view, refusal }: Question,
  brand: Brand,
): void => {
  if (refusal) {
    res.locals.errorCode = refusal.code;
    res.status(refusal.status).set(refusal.headers);
  }
  sendPage(res, { ...visit, hasForm: true }, view, brand);
};

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
    const { open, view, isSensitive = false } = page;
    const { reauthentication, brand } = options;
    const visit = await visitOfPage(page, options, req, res);
    const user = isSensitive ? askableOn(page, visit) : null;
    if (user && !(await reauthentication.isRecent(user))) {
      sendQuestion(res, visit, await reauthentication.question(visit, user, null), brand);
      return;
    }
    await answer(res, visit, view(visit, await open(visit), emptyForm), options);
  });

/** The page itself, as it was called, but for a chosen language: that is kept in a cookie. */
const addressOf = ({ req, query }: Visit): string => {
  const { ui_locales: _, ...rest } = query;
  const search = new URLSearchParams(rest);
  return `${req.path}${search.size > 0 ? `?${search}` : ''}`;
};

/** A page without a form: once the person has confirmed who they are, it opens. */
const reopening = { fields: {}, submit: addressOf };

/**
 * What becomes of a form before its page sees it. Whether it is an attempt that is one too many is known by
 * then, since reading a form and counting it come first.
 */
const stepBefore = async (
  page: AnyPage,
  visit: Visit,
  { reauthentication }: PageOptions,
  sent: Values,
  tooMany: HttpError | null,
): Promise<Step> => {
  const user = askableOn(page, visit);
  const isAnswer = isAnswerToQuestion(page, sent);
  if (!user && isAnswer) {
    // Whose session has ended, or is locked: `open` leads on from here.
    await page.open(visit);
    throw forged();
  }
  if (!user) return { kind: 'go_on', values: sent };
  if (isAnswer) return reauthentication.answer(visit, user, sent, tooMany);
  if (!page.isSensitive || (await reauthentication.isRecent(user))) {
    return { kind: 'go_on', values: sent };
  }
  return { kind: 'ask', question: await reauthentication.question(visit, user, sent, tooMany) };
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

/** Whether a form answers the question who is there. Only where it is asked: nowhere else is it counted as one. */
const isAnswerToQuestion = (page: AnyPage, { continuation }: Values): boolean =>
  continuation !== undefined && asksAgain(page);

const isUnauthenticatedLately = (error: unknown): boolean =>
  error instanceof HttpError && error.code === 'reauthentication_required';

/**
 * On success the browser goes on with a GET, so that nothing is sent twice; else the form is shown again
 * with what was typed, but no secrets. That includes a change of language, which does nothing else, and
 * too many attempts: these are counted here and not before, as the form has to be read to be kept.
 */
const submitting = (page: AnyPage, options: PageOptions): RequestHandler => {
  const { open, view, limit = 'form', isForAnybody = false } = page;
  const form: NonNullable<AnyPage['form']> = page.form ?? reopening;
  const { forgery, brand, minLength, limits, reauthentication } = options;
  const limiters = {
    own: limitersOf(limits, limit),
    // The same classes as the JSON routes that confirm a password and a code.
    password: limitersOf(limits, 'password'),
    code: limitersOf(limits, 'twoFactor'),
  };
  return orElsewhere(async (req, res) => {
    if (form.file) await admitFile(page, options, limiters.own.address, req, res);
    const { values: sent, file, problem } = await readForm(req, res, form.file);
    const isCounted = isAttempt(sent);
    const { address, principal } = limiters[isAnswerToQuestion(page, sent) ? wayOf(sent) : 'own'];
    const fromAddress = isCounted && !form.file ? await counted(address, req, res) : null;
    if (fromAddress && !forgery.isFromHere(req)) throw fromAddress;
    forgery.demandFromHere(req);
    const visit = await visitOfPage(page, options, req, res, sent.ui_locales);
    const isByUser = isCounted && !isForAnybody && visit.user !== null;
    if (isByUser) res.locals.caller = visit.user;
    const tooMany = fromAddress ?? (isByUser ? await counted(principal, req, res) : null);
    const step = await stepBefore(page, visit, options, sent, tooMany);
    if (step.kind === 'ask') return sendQuestion(res, visit, step.question, brand);
    if (step.kind === 'reopen') throw new Elsewhere(addressOf(visit));
    const { values } = step;
    const data = await open(visit);
    if (!isAttempt(values)) {
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
      const user = askableOn(page, visit);
      if (user && isUnauthenticatedLately(error)) {
        const question = await reauthentication.question(visit, user, values);
        return sendQuestion(res, visit, question, brand);
      }
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
    if (!form && !one.isSensitive) return [[`${name}Page`, shown] as const];
    const sent = forwarded({
      ...described,
      method: 'post',
      path,
      summary: `Form: ${name}`,
      forward: submitting(one, options),
    });
    return [[`${name}Page`, shown] as const, [`${name}Form`, sent] as const];
  });
  return Object.fromEntries(routes);
};
