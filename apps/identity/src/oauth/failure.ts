import { described, named, oneOf, shape, text } from '@tessera/fields';
import { HttpError } from '@tessera/http-kit';

/** An error that clients of either kind can read (decision B1). */
export const OAuthFailure = named(
  'OAuthFailure',
  shape({
    error: described(text(100), 'A code of RFC 6749 section 5.2.'),
    error_description: text(20_000),
    success: oneOf(false),
    message: text(20_000),
  }),
);

/** 400: a client asks to revoke a token that lives and is not its own (RFC 7009 section 2.1). */
export const tokenOfAnotherClient = (): HttpError =>
  new HttpError(400, 'unauthorized_client', 'The token belongs to another client.');

/** 400: a token of this kind is revoked at another endpoint (RFC 7009 section 2.2.1). */
export const unsupportedTokenType = (whose: string, endpoint: string): HttpError =>
  new HttpError(
    400,
    'unsupported_token_type',
    `The token is ${whose}: its client revokes it at ${endpoint}.`,
  );

/** The answer to a revocation, whether or not there was a token to revoke (RFC 7009). */
export const Revoked = named('Revoked', shape({ success: oneOf(true) }));
