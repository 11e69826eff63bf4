import type { Field, Out, Shape } from '@tessera/fields';
import type { Request, RequestHandler, Response } from 'express';
import type { EventOf, EventSource, EventStream } from './event-streams/event-stream.ts';
import type { FileBody, ReceivedFile } from './files/file-body.ts';
import type { FileResponse, ServedFile } from './files/file-response.ts';
import type { RequestHeader, ResponseHeader } from './headers.ts';
import type { HttpError } from './http-error.ts';

export type Method = 'get' | 'post' | 'put' | 'delete';

/** An answer without a body. */
export const empty = { empty: true } as const;
export type Empty = typeof empty;

/** An answer that is sent while it is made: what it looks like by media type, null for text of no known shape. */
export interface Streamed {
  readonly streamed: Readonly<Record<string, Field | null>>;
}
export const streamed = (byType: Streamed['streamed']): Streamed => ({ streamed: byType });

/** A request body of raw bytes, read into memory: one of these media types, at most `mostBytes` long. */
export interface Binary {
  readonly types: readonly string[];
  readonly mostBytes: number;
}
export const binary = (types: readonly string[], mostBytes: number): Binary => ({
  types,
  mostBytes,
});

/** What a route may declare as its body. */
export type RequestBody = Field | Binary | FileBody;

/** Whether a body is declared as bytes. */
export const isBinary = (body: RequestBody | undefined): body is Binary =>
  body !== undefined && 'mostBytes' in body;

/** What a route may declare as one of its answers. */
export type DeclaredResponse = Field | Empty | Streamed | FileResponse | EventStream;
export type Responses = Readonly<Record<number, DeclaredResponse>>;

/** Open to everyone. It must be written, so that no route is open by oversight. */
type Public = 'public';
/** Open to every authenticated caller, whatever their permissions: their own profile, for example. */
type Authenticated = 'authenticated';
export type Access<Permission extends string> =
  | Public
  | Authenticated
  | Permission
  | readonly [Permission, ...Permission[]];

declare const replied: unique symbol;
/** Proof that a handler has answered; only `reply` returns one. */
export interface Reply {
  readonly [replied]: true;
}

type Headers = Readonly<Record<string, string | readonly string[]>>;

/** What is sent while it is made. */
export interface Sent {
  /** The media type, one of those that are declared. */
  readonly type: string;
  /** Asked for the next one when the last one is on its way; told to stop when the client has left. */
  readonly chunks: AsyncIterable<string | Uint8Array>;
}

type ReplyBody<F> = F extends Streamed
  ? Sent
  : F extends FileResponse
    ? ServedFile
    : F extends EventStream<infer E>
      ? EventSource<EventOf<E>>
      : Out<F>;

/** Sends one of the declared answers. */
export type ReplyFunction<R extends Responses> = <S extends keyof R & number>(
  status: S,
  ...answer: R[S] extends Empty ? [headers?: Headers] : [body: ReplyBody<R[S]>, headers?: Headers]
) => R[S] extends Streamed | FileResponse | EventStream ? Promise<Reply> : Reply;

type ParameterNames<P extends string> = P extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterNames<Rest>
  : never;

type Given<F> = F extends Field
  ? Out<F>
  : F extends Binary
    ? Buffer
    : F extends FileBody<infer S>
      ? ReceivedFile<S>
      : undefined;

export interface HandlerInput<Caller, PA, Q, B, R extends Responses> {
  readonly params: Given<PA>;
  readonly query: Given<Q>;
  readonly body: Given<B>;
  readonly caller: Caller;
  readonly req: Request;
  readonly res: Response;
  readonly reply: ReplyFunction<R>;
}

/** A refusal as a document shows it. */
export interface Problem {
  /** When it is sent. */
  readonly description: string;
  /** Makes it as the service does, for the example. */
  refusal(): HttpError;
}

interface Declared<A, R extends Responses> {
  readonly method: Method;
  /** The required permissions, checked in this order; or `public`, or `authenticated`. */
  readonly permission: A;
  readonly summary: string;
  readonly description?: string;
  readonly responses: R;
  /** The 3xx, 4xx and 5xx answers that are this route's own: status and when. */
  readonly problems?: Readonly<Record<number, string | Problem>>;
  /** Headers of requests that it looks at, beyond those that every route takes. */
  readonly requestHeaders?: readonly RequestHeader[];
  /** Headers that its answers always have, by status, beyond those of every answer. */
  readonly responseHeaders?: Readonly<Record<number, readonly ResponseHeader[]>>;
  /** Restricted callers (2FA, PIN or password pending) that may use the route all the same. */
  readonly admits?: readonly string[];
  /** Whose OAuth clients may use it with a token of a user; an app may demand that a route decides. */
  readonly clients?: 'first_party' | 'any';
  /** The credential scheme of the route, where it is not the app's usual one; see `withCredentials`. */
  readonly credential?: string;
  /** The type of the resource in the path, for `permission_denied`; its id is the last path parameter. */
  readonly resource?: string;
  /** The rate limit class of the route; `default` by default. */
  readonly limit?: string;
}

/** A route as it is written: everything about it, typed against its handler. */
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
  readonly admits?: readonly State[];
  readonly params?: PA &
    (Given<PA> extends Record<ParameterNames<P>, unknown>
      ? unknown
      : `params lacks ${ParameterNames<P>}`);
  readonly query?: Q;
  readonly body?: B;
  handler(
    input: HandlerInput<A extends Public ? undefined : Caller, PA, Q, B, R>,
  ): Promise<Reply> | Reply;
}

/** A route without its static types. */
export interface RouteEntry extends Declared<string | readonly string[], Responses> {
  readonly path: string;
  readonly params?: Shape | undefined;
  readonly query?: Shape | undefined;
  readonly body?: RequestBody | undefined;
  /** Media types of the body; JSON unless told. */
  readonly bodyTypes?: readonly string[];
  handler?(input: never): Promise<Reply> | Reply;
  /** Where another framework answers: it does its own parsing and checks. */
  readonly forward?: RequestHandler;
  /** A page for people: no part of the OpenAPI document, which is for programs. */
  readonly isPage?: boolean;
}

/** Operation id -> route. */
export type RouteTable = Readonly<Record<string, RouteEntry>>;
/** Tag -> routes, in the order of the document. */
export type RouteGroups = Readonly<Record<string, RouteTable>>;

/**
 * Gives an app its `route` function, bound to who calls it, to the permissions that exist, and to what
 * callers may have left to do.
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

/** A public route that another framework answers; declared here so that it is described and limited. */
export const forwarded = (
  route: Omit<RouteEntry, 'permission' | 'handler'> & { readonly forward: RequestHandler },
): RouteEntry => ({ ...route, permission: 'public' });

/** The permissions that a route needs; none for `public` and `authenticated`. */
export const permissionsOf = (route: RouteEntry): readonly string[] =>
  [route.permission].flat().filter((p) => p !== 'public' && p !== 'authenticated');

/** The same routes below a prefix. */
export const under = (prefix: string, routes: RouteTable): RouteTable =>
  Object.fromEntries(
    Object.entries(routes).map(([id, route]) => [id, { ...route, path: prefix + route.path }]),
  );
