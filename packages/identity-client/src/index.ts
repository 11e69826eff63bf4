import { type Client, type ClientOptions, createOpenApiClient } from '@tessera/openapi-client';
import type { paths } from './schema.ts';

export type { components, paths } from './schema.ts';

/**
 * A typed client of identity: every path, body and answer as its OpenAPI document declares them. A picture is a `Blob` with
 * its type, or bytes with the header `Content-Type`.
 */
export const createIdentityClient = (options: ClientOptions): Client<paths> =>
  createOpenApiClient<paths>(options);
