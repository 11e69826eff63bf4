import type { Field, Out, Shape } from '@tessera/fields';
import type { Request, RequestHandler, Response } from 'express';
import type { EventOf, EventSource, EventStream } from './event-streams/event-stream.ts';
import type { FileBody, ReceivedFile } from './files/file-body.ts';
import type { FileResponse, ServedFile } from './files/file-response.ts';
import type { RequestHeader, ResponseHeader } from './headers.ts';
import type { HttpError } from './http-error.ts';
import type { RepeatableResponse } from './idempotency.ts';
import type { JsonText } from './json-text.ts';

/** Without a route for HEAD, the route for GET answers it; without one for OPTIONS, the response is `Allow`. */
export type Method = 'get' | 'head' | 'options' | 'post' | 'put' | 'patch' | 'delete';

/** A response without a body. */
export const empty = { empty: true } as const;
export type Empty = typeof empty;

/**
 * A response that is sent while it is produced: media type -> shape, or null for text without a declared shape.
 */
export interface Streamed {
  readonly streamed: Readonly<Record<string, Field | null>>;
}
export const streamed = (byType: Streamed['streamed']): Streamed => ({ streamed: byType });

/** A request body of raw bytes, read into memory: its media types and its maximum size in bytes. */
export interface Binary {
  readonly types: readonly string[];
  readonly maxBytes: number;
}
export const binary = (types: readonly string[], maxBytes: number): Binary => ({
  types,
  maxBytes,
});

/** A request body that a route can declare. */
export type RequestBody = Field | Binary | FileBody;

/** Whether a body is declared as raw bytes. */
export const isBinary = (body: RequestBody | undefined): body is Binary =>
  body !== undefined && 'maxBytes' in body;

/** A response that a route can declare. */
export type DeclaredResponse = Field | Empty | Streamed | FileResponse | EventStream;
export type Responses = Readonly<Record<number, DeclaredResponse>>;

/** Open to everyone. It has to be written out, so that no route is public by oversight. */
type Public = 'public';
/** Open to every authenticated caller regardless of permissions, for example to read one's own profile. */
type Authenticated = 'authenticated';
export type Access<Permission extends string> =
  | Public
  | Authenticated
  | Permission
  | readonly [Permission, ...Permission[]];

declare const replied: unique symbol;
/** Proof that the handler has replied; only `reply` returns one. */
export interface Reply {
  readonly [replied]: true;
}

type Headers = Readonly<Record<string, string | readonly string[]>>;

/** A body that is sent while it is produced. */
export interface StreamedBody {
  /** The media type, one of the declared ones. */
  readonly type: string;
  /**
   * The next chunk is requested when the last one was sent; the iterator is ended when the client disconnects.
   */
  readonly chunks: AsyncIterable<string | Uint8Array>;
}

type ReplyBody<F> = F extends Streamed
  ? StreamedBody
  : F extends FileResponse
    ? ServedFile
    : F extends EventStream<infer E>
      ? EventSource<EventOf<E>>
      : Out<F> | JsonText<Out<F>>;

/** Sends one of the declared responses. */
export type ReplyFunction<R extends Responses> = <S extends keyof R & number>(
  status: S,
  ...answer: R[S] extends Empty ? [headers?: Headers] : [body: ReplyBody<R[S]>, headers?: Headers]
) => R[S] extends Streamed | FileResponse | EventStream ? Promise<Reply> : Reply;

type ParameterNames<P extends string> = P extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterNames<Rest>
  : never;

type Validated<F> = F extends Field
  ? Out<F>
  : F extends Binary
    ? Buffer
    : F extends FileBody<infer S>
      ? ReceivedFile<S>
      : undefined;

/** A response that is about to be sent again, and the request that repeats its `Idempotency-Key`. */
export interface ReplayInput<Caller, PA, B> {
  readonly params: Validated<PA>;
  readonly caller: Caller;
  readonly body: Validated<B>;
  /** The JSON body of the response. */
  readonly response: unknown;
  readonly headers: RepeatableResponse['headers'];
}

export interface HandlerInput<Caller, PA, Q, B, R extends Responses> {
  readonly params: Validated<PA>;
  readonly query: Validated<Q>;
  readonly body: Validated<B>;
  readonly caller: Caller;
  readonly req: Request;
  readonly res: Response;
  readonly reply: ReplyFunction<R>;
  /**
   * Ends the handler of an upload that accepts an `Idempotency-Key`: runs `work`, which replies, in one transaction with
   * the key, after the whole file has been read and the caller's access was confirmed. If the same request was answered meanwhile, that response is sent
   * instead, and `discard` removes what the handler has stored of the file.
   */
  commitUpload(work: () => Promise<Reply>, discard: () => Promise<void>): Promise<Reply>;
  /**
   * Throws the `HttpError` of the gate if the caller of an upload has lost access. For handlers that work for long after
   * the file has been read, before they commit.
   */
  confirmAccess(): Promise<void>;
}

/** An error response as it appears in the document. */
export interface Problem {
  /** When the error occurs. */
  readonly description: string;
  /** Creates the error as the service does, for the example. */
  error(): HttpError;
}

/**
 * What browsers may do with a route from other origins:
 * - `configured`: scripts of the configured origins may call it, with cookies if the app allows that.
 * - `every`: scripts of every origin may read it, without cookies.
 * - `navigation`: browsers may open it, such as a page or a redirect. Scripts cannot read it, and cannot load it.
 * - `embedding`: documents may embed it, such as an image. Scripts cannot read it.
 */
export type CrossOriginUse = 'configured' | 'every' | 'navigation' | 'embedding';

interface Declared<A, R extends Responses> {
  readonly method: Method;
  /** The required permissions, checked in this order; or `public` or `authenticated`. */
  readonly permission: A;
  readonly summary: string;
  readonly description?: string;
  readonly responses: R;
  /** The route's own 3xx, 4xx and 5xx responses: status -> when it occurs. */
  readonly problems?: Readonly<Record<number, string | Problem>>;
  /** Request headers that the route reads, besides those of every route. */
  readonly requestHeaders?: readonly RequestHeader[];
  /** Response headers by status, besides those of every response. */
  readonly responseHeaders?: Readonly<Record<number, readonly ResponseHeader[]>>;
  /** Headers of every response of the route, errors included. */
  readonly headers?: Readonly<Partial<Record<ResponseHeader, string>>>;
  /** Restrictions (2FA, PIN or password pending) under which a caller may still use the route. */
  readonly allowRestrictions?: readonly string[];
  /**
   * Which OAuth clients may use the route with a user's token; an app may require every route to declare it.
   */
  readonly clients?: 'first_party' | 'any';
  /** The credential scheme of the route if it is not the app's usual one; see `withCredentials`. */
  readonly credential?: string;
  /**
   * Credentials that requests may have and need not, each by itself: `bearer`, or a name in the document's
   * `optionalCredentials`. The handler checks them.
   */
  readonly optionalCredentials?: readonly string[];
  /** The type of the resource in the path, for `permission_denied`; its id is the last path parameter. */
  readonly resource?: string;
  /** Whether the route takes an `Idempotency-Key`. Default: for a `post` that responds with 201. */
  readonly isIdempotent?: boolean;
  /** The rate limit class of the route. Default: `default`. */
  readonly limit?: string;
  /** What browsers may do with the route from other origins. Default: `navigation` for a page, else `configured`. */
  readonly crossOrigin?: CrossOriginUse;
}

/** A route declaration with the types of its handler. */
export interface Route<
  Caller,
  A,
  P extends string,
  PA extends Shape | undefined,
  Q extends Shape | undefined,
  B extends RequestBody | undefined,
  R extends Responses,
  State extends string = string,
> extends Declared<A, R> {
  readonly path: P;
  readonly allowRestrictions?: readonly State[];
  readonly params?: PA &
    (Validated<PA> extends Record<ParameterNames<P>, unknown>
      ? unknown
      : `params lacks ${ParameterNames<P>}`);
  readonly query?: Q;
  readonly body?: B;
  handler(
    input: HandlerInput<A extends Public ? undefined : Caller, PA, Q, B, R>,
  ): Promise<Reply> | Reply;
  /**
   * Throws 403 before the body is read, for routes whose permissions depend on the body: the caller has none of those that any
   * body could need.
   */
  authorizeCaller?(caller: A extends Public ? undefined : Caller): void;
  /**
   * Returns the validated body, or throws; instead of the validation by `body`, which is then for the document only. For bodies
   * that may contain so much that they must be validated in slices, and that need permissions, which are to be checked first.
   */
  acceptBody?(input: {
    readonly caller: A extends Public ? undefined : Caller;
    readonly body: unknown;
  }): Promise<Validated<B>>;
  /**
   * Throws if the caller may no longer see a stored response, or returns the body to send instead of the stored one. For
   * routes whose handler checks permissions, because they depend on the body or on the record: a repeated request does not
   * run the handler.
   */
  authorizeReplay?(input: ReplayInput<Caller, PA, B>): unknown;
  /**
   * Does what takes too long for a transaction, or throws to refuse the body. It runs before the handler, which may yet find
   * that the record does not exist or does not change, and before the transaction of an `Idempotency-Key`, unless that has
   * a response; not for uploads.
   */
  prepare?(body: Validated<B>, caller: A extends Public ? undefined : Caller): Promise<void>;
}

/** A route without its static types. */
export interface RouteEntry extends Declared<string | readonly string[], Responses> {
  readonly path: string;
  readonly params?: Shape | undefined;
  readonly query?: Shape | undefined;
  readonly body?: RequestBody | undefined;
  /** Media types of the body. Default: JSON. */
  readonly bodyTypes?: readonly string[];
  handler?(input: never): Promise<Reply> | Reply;
  authorizeCaller?(caller: never): void;
  acceptBody?(input: never): Promise<unknown>;
  authorizeReplay?(input: never): unknown;
  prepare?(body: never, caller: never): Promise<void>;
  /** Handler of another framework, which does its own parsing and validation. */
  readonly forward?: RequestHandler;
  /** A page for people, which is not part of the OpenAPI document. */
  readonly isPage?: boolean;
}

/** Operation id -> route. */
export type RouteTable = Readonly<Record<string, RouteEntry>>;
/** Tag -> routes, in the order of the document. */
export type RouteGroups = Readonly<Record<string, RouteTable>>;

/**
 * Returns the `route` function of an app, bound to its type of caller, its permissions and its restrictions.
 */
export const routesFor =
  <Caller, Permission extends string, State extends string = never>() =>
  <
    const A extends Access<Permission>,
    const P extends string,
    R extends Responses,
    PA extends Shape | undefined = undefined,
    Q extends Shape | undefined = undefined,
    B extends RequestBody | undefined = undefined,
  >(
    route: Route<Caller, A, P, PA, Q, B, R, State>,
  ): RouteEntry =>
    route as RouteEntry;

/**
 * Returns the `route` function for callers who present a credential other than the bearer token (`withCredentials`).
 * Their routes require no permission, and have a rate limit class of their own.
 */
export const credentialRoutesFor =
  <Caller>(fixed: { readonly credential: string; readonly limit: string }) =>
  <
    const P extends string,
    R extends Responses,
    PA extends Shape | undefined = undefined,
    Q extends Shape | undefined = undefined,
    B extends RequestBody | undefined = undefined,
  >(
    declared: Omit<
      Route<Caller, 'authenticated', P, PA, Q, B, R, never>,
      'permission' | 'credential' | 'limit'
    >,
  ): RouteEntry =>
    ({ ...declared, ...fixed, permission: 'authenticated' }) as object as RouteEntry;

/** A public route that another framework handles; declared here so that it is documented and rate limited. */
export const forwarded = (
  route: Omit<RouteEntry, 'permission' | 'handler'> & { readonly forward: RequestHandler },
): RouteEntry => ({ ...route, permission: 'public' });

/** What browsers may do with a route from other origins. */
export const crossOriginUseOf = ({ crossOrigin, isPage }: RouteEntry): CrossOriginUse =>
  crossOrigin ?? (isPage ? 'navigation' : 'configured');

/** The permissions that a route requires; none for `public` and `authenticated`. */
export const permissionsOf = (route: RouteEntry): readonly string[] =>
  [route.permission].flat().filter((p) => p !== 'public' && p !== 'authenticated');

/** The same routes with a path prefix. */
export const under = (prefix: string, routes: RouteTable): RouteTable =>
  Object.fromEntries(
    Object.entries(routes).map(([id, route]) => [id, { ...route, path: prefix + route.path }]),
  );
