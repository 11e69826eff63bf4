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
   * Calls `changed` whenever a request of the caller could now be rejected, for requests that outlive
   * their own check; returns how to stop. Event streams, uploads, downloads and exports are then authenticated and
   * authorized again.
   */
  watch?(caller: Caller, changed: () => void): () => void;
  /** Gives the caller of a request that takes long the rights that they have now, as a later authentication found them. */
  renew?(caller: Caller, latest: Caller): void;
}
