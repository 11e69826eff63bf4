import type { Field } from '@tessera/fields';
import type { Credentials } from '../credentials.ts';
import type { ErrorExample } from '../error-examples.ts';
import type { ErrorHandlerOptions } from '../error-handler.ts';
import type { RequestHeader } from '../headers.ts';
import type { RouteEntry } from '../route.ts';
import type { Schemas } from './schemas.ts';

export interface DocumentOptions {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  /** The body of every error response. */
  readonly error: Field;
  /** Descriptions of the statuses that the gate, the limits or the validation can respond with. */
  readonly problems: Readonly<Record<number, string>>;
  /** The credentials that the gate accepts besides bearer tokens. */
  readonly credentials?: Credentials;
  /** The credentials that routes may name in `optionalCredentials` besides `bearer`. */
  readonly optionalCredentials?: Credentials;
  /** Examples of the app's own errors. */
  readonly errorExample?: ErrorExample;
  /** Whether the app keeps responses by `Idempotency-Key`. */
  readonly takesIdempotencyKeys?: boolean;
  /** Headers that the gate reads, by route. */
  requestHeaders?(route: RouteEntry): readonly RequestHeader[];
}

/** Renders the examples of errors; without it the document contains none. */
export type Rendering = Partial<Pick<ErrorHandlerOptions, 'render'>>;

/** The state of a document that is being created. */
export interface DocumentContext {
  readonly options: DocumentOptions & Rendering;
  readonly schemas: Schemas;
}

/** Descriptions of the statuses that all services share. */
export const standardProblems = {
  400: 'The body is not well-formed',
  413: 'The body is too large',
  415: 'The body is not JSON',
  422: 'The input is invalid; `errors` names every invalid field',
  429: 'Too many requests; `Retry-After` is the number of seconds to wait',
  500: 'An internal error occurred',
} as const;
