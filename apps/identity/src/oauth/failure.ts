import { described, named, oneOf, shape, text } from '@tessera/fields';

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

/** The answer to a revocation, whether or not there was a token to revoke (RFC 7009). */
export const Revoked = named('Revoked', shape({ success: oneOf(true) }));
