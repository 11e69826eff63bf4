import type { ServerResponse } from 'node:http';

/** A response that is being sent, with what the application recorded about its request. */
export interface ObservedResponse extends ServerResponse {
  readonly locals: { readonly operation?: string; readonly isPage?: boolean };
}

/** Express middleware. */
export type Observer = (req: unknown, res: ObservedResponse, next: () => void) => void;

/** Middleware that reports every response with its whole body as it is sent; must be the first of the app. */
export const observeResponses =
  (check: (res: ObservedResponse, payload: string) => void): Observer =>
  (_req, res, next) => {
    const { write, end } = res;
    const sent: Buffer[] = [];
    const keep = ([chunk]: readonly unknown[]): void => {
      if (typeof chunk === 'string' || chunk instanceof Uint8Array) sent.push(Buffer.from(chunk));
    };
    res.write = function (this: ObservedResponse, ...args: unknown[]) {
      keep(args);
      return Reflect.apply(write, this, args);
    } as typeof res.write;
    res.end = function (this: ObservedResponse, ...args: unknown[]) {
      keep(args);
      check(this, Buffer.concat(sent).toString());
      return Reflect.apply(end, this, args);
    } as typeof res.end;
    next();
  };
