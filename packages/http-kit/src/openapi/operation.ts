import type { Shape } from '@tessera/fields';
import { bearerScheme, type Credentials, USUAL } from '../credentials.ts';
import { headerParameters } from '../headers.ts';
import { withIdempotencyKey } from '../idempotency.ts';
import { permissionsOf, type RouteEntry } from '../route.ts';
import type { DocumentContext, DocumentOptions } from './options.ts';
import { requestBodyOf } from './request-body.ts';
import { responsesOf, servesFile } from './responses.ts';
import { hoist, mapped, type Schemas } from './schemas.ts';

/** The request headers of file routes. */
const fileConditions = [
  'If-Match',
  'If-None-Match',
  'If-Modified-Since',
  'If-Unmodified-Since',
  'Range',
  'If-Range',
] as const;

const sendsEvents = ({ responses }: RouteEntry): boolean =>
  Object.values(responses).some((response) => 'events' in response);

const parametersOf = (
  shape: Shape | undefined,
  where: 'path' | 'query',
  schemas: Schemas,
): object[] =>
  Object.entries(shape?.fields ?? {}).map(([name, field]) => {
    const { description, ...schema } = field.json as { description?: string; type?: unknown };
    return {
      name,
      in: where,
      required: where === 'path' || !field.absent,
      ...(where === 'query' && schema.type === 'object' && { style: 'deepObject', explode: true }),
      ...(description && { description }),
      schema: hoist(schema, schemas),
    };
  });

/**
 * The security requirements of a route, each an alternative; an empty one stands for a request without credentials.
 * Throws if a credential of the route has no security scheme.
 */
const securityOf = (
  { permission, credential = USUAL, optionalCredentials, path }: RouteEntry,
  options: DocumentOptions,
): object[] => {
  const requirementOf = (name: string, known: Credentials = {}): object => {
    const schemes = name === USUAL ? bearerScheme : known[name];
    if (!schemes) throw new Error(`${path}: the credential "${name}" has no security scheme.`);
    return mapped(schemes, () => []);
  };
  if (optionalCredentials) {
    const { optionalCredentials: known } = options;
    return [{}, ...optionalCredentials.map((name) => requirementOf(name, known))];
  }
  return permission === 'public' ? [] : [requirementOf(credential, options.credentials)];
};

/** The OpenAPI operation of a route. */
export const operationOf = (
  id: string,
  given: RouteEntry,
  tag: string,
  context: DocumentContext,
): object => {
  const { options, schemas } = context;
  const route = options.takesIdempotencyKeys ? withIdempotencyKey(given) : given;
  const parameters = [
    ...parametersOf(route.params, 'path', schemas),
    ...parametersOf(route.query, 'query', schemas),
    ...headerParameters([
      ...(options.requestHeaders?.(route) ?? []),
      ...(route.requestHeaders ?? []),
      ...(servesFile(route) ? fileConditions : []),
      ...(sendsEvents(route) ? (['Last-Event-ID'] as const) : []),
      'X-Request-Id',
    ]),
  ];
  return {
    operationId: id,
    tags: [tag],
    summary: route.summary,
    ...(route.description && { description: route.description }),
    security: securityOf(route, options),
    'x-permissions': route.permission === 'public' ? 'public' : permissionsOf(route),
    ...(parameters.length > 0 && { parameters }),
    ...(route.body && {
      requestBody: requestBodyOf({ ...route, body: route.body }, schemas),
    }),
    responses: responsesOf(route, context),
  };
};
