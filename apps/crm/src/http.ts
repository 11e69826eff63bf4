import type { CrmPermission } from '@tessera/contracts';
import {
  bool,
  type Field,
  fieldErrors,
  int,
  list,
  named,
  nullable,
  type Out,
  openShape,
  optional,
  rawText,
  type Shape,
  shape,
  text,
} from '@tessera/fields';
import { deniedAccessFields, type HttpError, listExports, routesFor } from '@tessera/http-kit';
import type { Caller as CallerOf } from '@tessera/resource-server';

export type { CrmPermission };

/** An authenticated caller of CRM. */
export type Caller = CallerOf<CrmPermission>;

/** Declares a route of CRM. Permissions are short (`contacts.list`); the gate adds the prefix. */
export const route = routesFor<Caller, CrmPermission>();

/** The shape of a response with one record: `{data}`. */
export const record = <F extends Field>(inner: F): Shape<{ data: F }> => shape({ data: inner });

/** The position of a page in its list. */
export const PageMeta = named(
  'PageMeta',
  shape({
    current_page: int(1, Number.MAX_SAFE_INTEGER),
    last_page: int(1, Number.MAX_SAFE_INTEGER),
    per_page: int(1, 100),
    total: int(0, Number.MAX_SAFE_INTEGER),
    total_is_minimum: optional(bool()),
  }),
);

const link = rawText(16_384);
/** Links to the pages around a page. */
export const PageLinks = named(
  'PageLinks',
  shape({ first: link, last: link, prev: nullable(link), next: nullable(link) }),
);

export type PageMeta = Out<typeof PageMeta>;
export type PageLinks = Out<typeof PageLinks>;

/** The shape of a response with one page of a list: `{data, meta, links}`. */
export const page = <F extends Field>(
  item: F,
): Shape<{ data: Field<Out<F>[], false>; meta: typeof PageMeta; links: typeof PageLinks }> =>
  shape({ data: list(item), meta: PageMeta, links: PageLinks });

/** Creates exports of lists: `{data}` in JSON, or CSV. */
export const listExport = listExports({ shape: (data) => shape({ data }), members: {} });

/** The body of every error response. */
export const Problem = named(
  'Problem',
  openShape({
    message: text(1000),
    error: text(100),
    errors: optional(fieldErrors()),
    ...deniedAccessFields,
  }),
);

/** Renders an error in CRM's envelope; its details are placed next to the message. */
export const renderError = ({ message, code, errors, details }: HttpError): object => ({
  message,
  error: code,
  ...(errors && { errors }),
  ...details,
});
