import { type Client, type ClientOptions, createOpenApiClient } from '@tessera/openapi-client';
import type { paths } from './schema.ts';

export type { components, paths } from './schema.ts';

/**
 * A typed client of CRM: every path, body and answer as its OpenAPI document declares them. Content of files is a `Blob`,
 * bytes or a stream, and in forms a `Blob`. Parts of an upload need the header `Content-Type:
 * application/offset+octet-stream`.
 */
export const createCrmClient = (options: ClientOptions): Client<paths> =>
  createOpenApiClient<paths>(options);
