import { nullable, optional, rawText, text } from '@tessera/fields';
import type { Request } from 'express';
import { HttpError } from './http-error.ts';
import type { RouteEntry } from './route.ts';

/** What the denied request tried to do. */
export interface DeniedAccess {
  readonly resourceType: string | null;
  readonly resourceId: string | null;
  /** The id of the caller, a user or a client. */
  readonly userId: string | null;
}

const id = optional(nullable(rawText(16_384)));

/** The members of an error body that describe a denied request; every service adds them to its envelope. */
export const deniedAccessFields = {
  required_permission: optional(nullable(text(300))),
  resource_type: optional(nullable(text(100))),
  resource_id: id,
  user_id: id,
} as const;

/**
 * 403: the caller lacks a permission, which the body names in full (decision C4). The code is
 * `service_account_scope_denied` if only the scopes of the token lack it.
 */
export const permissionDenied = (
  permission: string,
  { resourceType, resourceId, userId }: DeniedAccess,
  code: 'permission_denied' | 'service_account_scope_denied' = 'permission_denied',
): HttpError =>
  new HttpError(403, code, `The permission "${permission}" is required.`, {
    details: {
      required_permission: permission,
      resource_type: resourceType,
      resource_id: resourceId,
      user_id: userId,
    },
  });

/**
 * The id of the resource in a request's path: the last parameter; null if the route has no resource or no
 * parameter.
 */
export const resourceIdOf = (route: RouteEntry, req: Request): string | null => {
  if (route.resource === undefined) return null;
  const name = /.*\{(\w+)\}/.exec(route.path)?.[1];
  const value = name && req.params[name];
  return typeof value === 'string' ? value : null;
};
