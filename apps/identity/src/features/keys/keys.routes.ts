import { list, named, oneOf, shape, text } from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import { route } from '../../http/route.ts';
import type { SigningKeys } from '../../tokens/signing-keys.ts';

const parameter = text(100);
const JsonWebKeySet = named(
  'JsonWebKeySet',
  shape({
    keys: list(
      named(
        'JsonWebKey',
        shape({
          kty: parameter,
          crv: parameter,
          x: parameter,
          y: parameter,
          kid: parameter,
          alg: oneOf('ES256'),
          use: oneOf('sig'),
        }),
      ),
    ),
  }),
);

export const keyRoutes = (keys: SigningKeys): RouteTable => ({
  getKeys: route({
    method: 'get',
    path: '/.well-known/jwks.json',
    permission: 'public',
    limit: 'service',
    summary: 'Get the public keys that verify tokens (RFC 7517)',
    responses: { 200: JsonWebKeySet },
    handler: async ({ reply }) =>
      // A new key is published ten minutes before it signs, so clients may cache for five minutes.
      reply(200, { keys: await keys.published() }, { 'Cache-Control': 'public, max-age=300' }),
  }),
});
