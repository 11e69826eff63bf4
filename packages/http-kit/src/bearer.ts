import type { Request } from 'express';
import { unauthenticated } from './http-error.ts';

/** The longest token that is accepted, in characters. */
const MAX_TOKEN_LENGTH = 8192;

/** `Authorization: Bearer <b64token>` (RFC 6750 section 2.1); the scheme is case-insensitive (RFC 9110). */
const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i;

/** The bearer token of a request. Throws 401 if the header is missing or malformed. */
export const bearerToken = (req: Request): string => {
  const { authorization = '' } = req.headers;
  const token =
    authorization.length <= MAX_TOKEN_LENGTH ? BEARER.exec(authorization)?.[1] : undefined;
  if (token !== undefined) return token;
  throw unauthenticated('A token is required: "Authorization: Bearer <token>".');
};
