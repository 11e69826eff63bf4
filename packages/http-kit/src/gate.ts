import type { Request } from 'express';
import type { Credentials } from './credentials.ts';
import type { RouteEntry } from './route.ts';

/** Authenticates and authorizes callers. Both methods throw an `HttpError` to reject the request. */
export interface Gate<Caller> {
  /**
   * The OpenAPI security schemes of each credential that routes may name in `credential`. An app does not start
   * if a route names any other.
   */
  readonly credentials?: Credentials;
  authenticate(req: Request, route: RouteEntry): Promise<Caller>;
  authorize(caller: Caller, route: RouteEntry, req: Request): Promise<void> | void;
  /**
   * Calls `changed` whenever a request of the caller could now be rejected, for responses that outlive the
   * request's own check; returns how to stop. Event streams then authenticate and authorize their request again.
   */
  watch?(caller: Caller, changed: () => void): () => void;
}
