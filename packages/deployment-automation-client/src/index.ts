import createClient, { type Client, type ClientOptions } from 'openapi-fetch';
import type { paths } from './schema.ts';

export type { components, operations, paths } from './schema.ts';

/** A typed client of deployment automation: every path, body and answer as its contract declares them. */
export const createDeploymentAutomationClient = (options: ClientOptions): Client<paths> =>
  createClient<paths>(options);
