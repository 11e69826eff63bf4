import { errorCodes } from '@tessera/contracts';
import { bearerScheme } from '../credentials.ts';
import { headerComponents } from '../headers.ts';
import { flatten } from '../named-routes.ts';
import type { RouteGroups } from '../route.ts';
import { operationOf } from './operation.ts';
import type { DocumentOptions, Rendering } from './options.ts';
import type { Schemas } from './schemas.ts';
import { shareResponses } from './shared-responses.ts';

const sorted = (schemas: Schemas): Schemas =>
  Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => a.localeCompare(b, 'en')));

/** Tags that only have pages are omitted, because pages are not part of the document. */
const tagsOf = (groups: RouteGroups): object[] =>
  Object.entries(groups)
    .filter(([, table]) => Object.values(table).some(({ isPage }) => !isPage))
    .map(([name]) => ({ name }));

/** The OpenAPI 3.1 document of an app, created from the same tables as its router. */
export const openapi = (groups: RouteGroups, options: DocumentOptions & Rendering): object => {
  flatten(groups);
  const schemas: Schemas = {};
  const context = { options, schemas };
  const paths: Record<string, Record<string, object>> = {};
  for (const [tag, table] of Object.entries(groups)) {
    for (const [id, route] of Object.entries(table)) {
      if (route.isPage) continue;
      const { path, method } = route;
      paths[path] = { ...paths[path], [method]: operationOf(id, route, tag, context) };
    }
  }
  const responses = shareResponses(paths);
  return {
    openapi: '3.1.0',
    info: {
      title: options.title,
      version: options.version,
      description: options.description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: tagsOf(groups),
    paths,
    'x-error-codes': errorCodes,
    components: {
      schemas: sorted(schemas),
      responses,
      ...headerComponents(),
      securitySchemes: Object.assign(
        {},
        bearerScheme,
        ...Object.values({ ...options.credentials, ...options.optionalCredentials }),
      ),
    },
  };
};
