import { type Fields, type OutOf, openShape, readTexts, validate } from '@tessera/fields';
import { forwarded, HttpError, type RouteTable, validationFailed } from '@tessera/http-kit';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { emptyForm, type FormState } from './form.ts';
import { type Brand, sendPage, type View } from './layout.ts';
import { stateAfter } from './problems.ts';
import { Elsewhere, type Visit, type Visits, visitOf } from './visit.ts';

/** A page as it is written: what it needs, what it shows and what becomes of its form. */
export interface Page<Data, F extends Fields> {
  readonly path: string;
  /** The class of limits that counts its form: that of the JSON route that does the same. */
  readonly limit?: string;
  /** What showing and answering it need. Throws `Elsewhere` where they have no business here. */
  open(visit: Visit): Promise<Data> | Data;
  view(visit: Visit, data: Data, form: FormState): View;
  readonly form?: {
    readonly fields: F;
    /** Does what was asked for, and gives the address to go on at. */
    submit(visit: Visit, given: OutOf<F>, data: Data): Promise<string> | string;
  };
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
}

const SEE_OTHER = 303;
const FORM = 'application/x-www-form-urlencoded';

const parse = express.urlencoded({ extended: false, limit: '32kb', parameterLimit: 50 });

/** The fields of a form that are given once. */
const readForm = async (req: Request, res: Response): Promise<Record<string, string>> => {
  if (!req.is(FORM)) {
    throw new HttpError(415, 'unsupported_media_type', `The form must be sent as ${FORM}.`);
  }
  await new Promise<void>((resolve, reject) => {
    parse(req, res, (error?: { status?: number }) => {
      if (!error) return resolve();
      const isTooLarge = error.status === 413;
      reject(
        isTooLarge
          ? new HttpError(413, 'body_too_large', 'The form is too large.', { cause: error })
          : new HttpError(400, 'malformed_body', 'The form is not well-formed.', { cause: error }),
      );
    });
  });
  return Object.fromEntries(
    Object.entries((req.body ?? {}) as Record<string, unknown>).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  );
};

const checked = <F extends Fields>(fields: F, values: Record<string, string>): OutOf<F> => {
  const shape = openShape(fields);
  const result = validate(shape, readTexts(shape, values), 'form');
  if (!result.ok) throw validationFailed(result.errors);
  return result.value as OutOf<F>;
};

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

const showing = ({ open, view }: AnyPage, options: PageOptions): RequestHandler =>
  orElsewhere(async (req, res) => {
    const visit = await visitOf(options, req, res);
    sendPage(res, visit, view(visit, await open(visit), emptyForm), options.brand);
  });

/** On success the browser goes on with a GET, so that nothing is sent twice; else the form stands there again. */
const submitting = (
  { open, view }: AnyPage,
  { fields, submit }: NonNullable<AnyPage['form']>,
  options: PageOptions,
): RequestHandler =>
  orElsewhere(async (req, res) => {
    options.forgery.demandFromHere(req);
    const values = await readForm(req, res);
    const visit = await visitOf(options, req, res);
    const data = await open(visit);
    try {
      options.forgery.demandToken(req, values.form_token);
      res.redirect(SEE_OTHER, await submit(visit, checked(fields, values), data));
    } catch (error) {
      if (error instanceof Elsewhere) throw error;
      const { state, refusal } = stateAfter(visit, error, values, options.minLength);
      res.locals.errorCode = refusal.code;
      res.status(refusal.status).set(refusal.headers);
      sendPage(res, visit, { ...view(visit, data, state), hasErrors: true }, options.brand);
    }
  });

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
    const { path, form, limit = 'default' } = one;
    const shown = forwarded({
      ...{ ...described, method: 'get', path, summary: `Page: ${name}` },
      forward: showing(one, options),
    });
    if (!form) return [[`${name}Page`, shown] as const];
    const sent = forwarded({
      ...{ ...described, method: 'post', path, limit, summary: `Form: ${name}` },
      forward: submitting(one, form, options),
    });
    return [[`${name}Page`, shown] as const, [`${name}Form`, sent] as const];
  });
  return Object.fromEntries(routes);
};
