import createClient, { type Client, type ClientOptions } from 'openapi-fetch';
import type { paths } from './schema.ts';

export type { components, paths } from './schema.ts';

/** A typed client of CRM: every path, body and answer as its OpenAPI document declares them. */
export const createCrmClient = (options: ClientOptions): Client<paths> =>
  createClient<paths>(options);
