import createClient, { type Client, type ClientOptions } from 'openapi-fetch';
import type { paths } from './schema.ts';

export type { components, paths } from './schema.ts';

/** A typed client of identity: every path, body and answer as its OpenAPI document declares them. */
export const createIdentityClient = (options: ClientOptions): Client<paths> =>
  createClient<paths>(options);
