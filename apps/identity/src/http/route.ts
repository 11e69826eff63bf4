import type { IdentityPermission } from '@tessera/contracts';
import {
  type Field,
  fieldErrors,
  int,
  list,
  named,
  type Out,
  oneOf,
  openShape,
  optional,
  type Shape,
  shape,
  text,
} from '@tessera/fields';
import {
  deniedAccessFields,
  type HttpError,
  lastPage,
  listExports,
  pageParameters,
  routesFor,
} from '@tessera/http-kit';
import type { Request } from 'express';
import type { Caller, Restriction } from '../tokens/caller.ts';

export type { Caller };

/**
 * Declares a route of identity. During impersonation only routes that admit `impersonation` can be used. A
 * person's token with scopes can use routes without a permission only if they admit `scoped`, and one whose scopes are for
 * signing in only, such as `openid`, only if they admit `any_scope`.
 */
export const route = routesFor<
  Caller,
  IdentityPermission,
  Restriction | 'impersonation' | 'scoped' | 'any_scope'
>();

const isSuccess = oneOf(true);
const message = optional(text(1000));

/** The envelope of data: `{success, data, message?}`. */
export const success = <F extends Field>(
  data: F,
): Shape<{ success: typeof isSuccess; data: F; message: typeof message }> =>
  shape({ success: isSuccess, data, message });

/** The envelope of a success without data: `{success, message}`. */
export const done = named('Done', shape({ success: isSuccess, message: text(1000) }));

/** The export of a list, in the envelope of lists. */
export const listExport = listExports({ shape: success, members: { success: true } });

/** Maximum length of a list that is returned as a single page. */
const MAX_A_PAGE = 1000;

/** Query parameters of a page. */
export const pageFields = pageParameters(20);

/** `meta` of a page. */
export const PageMeta = named(
  'PageMeta',
  shape({
    current_page: int(1, Number.MAX_SAFE_INTEGER),
    last_page: int(1, Number.MAX_SAFE_INTEGER),
    per_page: int(1, MAX_A_PAGE),
    total: int(0, Number.MAX_SAFE_INTEGER),
  }),
);

export type PageMeta = Out<typeof PageMeta>;

/** The envelope of a page: `{success, data, meta}`. */
export const page = <F extends Field>(
  item: F,
  { max = 100 }: { readonly max?: number } = {},
): Shape<{ success: typeof isSuccess; data: Field<Out<F>[], false>; meta: typeof PageMeta }> =>
  shape({ success: isSuccess, data: list(item, { max }), meta: PageMeta });

/** The `meta` of a page. */
export const pageMeta = (page: number, perPage: number, total: number): PageMeta => ({
  current_page: page,
  last_page: lastPage(total, perPage),
  per_page: perPage,
  total,
});

/** The response with a whole list, as its only page. */
export const onlyPage = <T>(
  data: T[],
): { readonly success: true; readonly data: T[]; readonly meta: PageMeta } => ({
  success: true,
  data,
  meta: pageMeta(1, Math.max(1, data.length), data.length),
});

/** The body of every error. */
export const Failure = named(
  'Failure',
  openShape({
    success: oneOf(false),
    message: text(1000),
    error: text(100),
    errors: optional(fieldErrors()),
    ...deniedAccessFields,
  }),
);

/** Paths whose errors also have the members of RFC 6749 (decision B1). */
const OAUTH = /^\/(api\/)?oauth\//;

/** Renders an error in identity's envelope, with its details as further members. */
export const renderError = (
  { message, code, errors, details }: HttpError,
  { path }: Request,
): object => ({
  success: false,
  message,
  error: code,
  ...(OAUTH.test(path) && { error_description: message }),
  ...(errors && { errors }),
  ...details,
});
