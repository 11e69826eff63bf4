import type { IdentityPermission } from '@tessera/contracts';
import {
  clamped,
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
  withDefault,
} from '@tessera/fields';
import { deniedAccessFields, type HttpError, listExports, routesFor } from '@tessera/http-kit';
import type { Request } from 'express';
import { lastPage } from '../lists/paging.ts';
import type { Caller, Restriction } from '../tokens/caller.ts';

export type { Caller };

/**
 * Declares a route of identity. Whoever acts as another may use only those that admit `impersonation`. Of
 * those that need no permission, a person's token that is limited by scopes opens only those that admit
 * `scoped`.
 */
export const route = routesFor<
  Caller,
  IdentityPermission,
  Restriction | 'impersonation' | 'scoped'
>();

const isSuccess = oneOf(true);
const message = optional(text(1000));

/** The answer that holds what was asked for: `{success, data, message?}`. */
export const success = <F extends Field>(
  data: F,
): Shape<{ success: typeof isSuccess; data: F; message: typeof message }> =>
  shape({ success: isSuccess, data, message });

/** The answer that only says that it is done: `{success, message}`. */
export const done = named('Done', shape({ success: isSuccess, message: text(1000) }));

/** The export of a list, in the envelope of lists. */
export const listExport = listExports({ shape: success, members: { success: true } });

/** A list that is no longer than this may come whole, as one page. */
const MOST_A_PAGE = 1000;

/** Which page of a list is asked for; what is out of range is moved into it (decision B3). */
export const pageFields = {
  page: withDefault(clamped(1, 1_000_000), 1),
  per_page: withDefault(clamped(1, 100), 20),
} as const;

/** `meta` of a page. */
export const PageMeta = named(
  'PageMeta',
  shape({
    current_page: int(1, Number.MAX_SAFE_INTEGER),
    last_page: int(1, Number.MAX_SAFE_INTEGER),
    per_page: int(1, MOST_A_PAGE),
    total: int(0, Number.MAX_SAFE_INTEGER),
  }),
);

export type PageMeta = Out<typeof PageMeta>;

/** The answer that holds one page of a list: `{success, data, meta}`. */
export const page = <F extends Field>(
  item: F,
  { max = 100 }: { readonly max?: number } = {},
): Shape<{ success: typeof isSuccess; data: Field<Out<F>[], false>; meta: typeof PageMeta }> =>
  shape({ success: isSuccess, data: list(item, { max }), meta: PageMeta });

/** The `meta` of one page; the last page of nothing is the first. */
export const pageMeta = (page: number, perPage: number, total: number): PageMeta => ({
  current_page: page,
  last_page: lastPage(total, perPage),
  per_page: perPage,
  total,
});

/** The body of every answer that is not a success. */
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

/** Where clients of OAuth read RFC 6749's members, too (decision B1). */
const OAUTH = /^\/(api\/)?oauth\//;

/** Renders an error in identity's envelope; its details stand beside the message. */
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
