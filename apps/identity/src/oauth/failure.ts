import { described, named, oneOf, shape, text } from '@tessera/fields';

/** A refusal that both kinds of client can read (decision B1). */
export const OAuthFailure = named(
  'OAuthFailure',
  shape({
    error: described(text(100), 'A code of RFC 6749 section 5.2.'),
    error_description: text(20_000),
    success: oneOf(false),
    message: text(20_000),
  }),
);

/** A revocation, whether or not there was something to revoke (RFC 7009). */
export const Revoked = named('Revoked', shape({ success: oneOf(true) }));
