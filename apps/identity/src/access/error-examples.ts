import {
  type ErrorExample,
  type HttpError,
  isBinary,
  isFileBody,
  permissionDenied,
  permissionsOf,
  type RouteEntry,
} from '@tessera/http-kit';
import { clientMissing, invalidRequest, tooLarge, wrongType } from '../oauth/request.ts';
import { invalidToken } from '../tokens/authenticate.ts';

const id = '019aa0f5-7c1e-7a52-9d3b-5f0c2a8e4b61';

const isOAuth = ({ bodyTypes }: RouteEntry): boolean =>
  bodyTypes?.includes('application/x-www-form-urlencoded') ?? false;

/** Errors of OAuth endpoints (RFC 6749 section 5.2). */
const ofOAuth = (status: number, { body }: RouteEntry): HttpError | undefined => {
  const [needed] = isBinary(body) || isFileBody(body) ? [] : [body?.json.required ?? []].flat();
  if (status === 400) return invalidRequest(`${needed} is required.`);
  if (status === 401) return clientMissing('Basic realm="identity"');
  if (status === 413) return tooLarge();
  return status === 415 ? wrongType() : undefined;
};

/** Examples of identity's own errors, for the OpenAPI document. */
export const identityErrorExample: ErrorExample = (status, route) => {
  if (isOAuth(route)) return ofOAuth(status, route);
  const [permission] = permissionsOf(route);
  if (status === 401 && route.problems?.[401] === undefined) return invalidToken();
  if (status !== 403 || permission === undefined) return undefined;
  const { resource = null } = route;
  const resourceId = resource !== null && route.path.includes('{') ? id : null;
  return permissionDenied(permission, { resourceType: resource, resourceId, userId: id });
};
