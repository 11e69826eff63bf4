import type { Field } from '@tessera/fields';
import type { Request } from 'express';
import { USUAL } from '../credentials.ts';
import { navigationProblem } from '../cross-origin.ts';
import { errorExample } from '../error-examples.ts';
import { isFileBody } from '../files/file-body.ts';
import { headersOf, type ResponseHeader } from '../headers.ts';
import { takesBody } from '../request-input.ts';
import {
  crossOriginUseOf,
  type DeclaredResponse,
  type Problem,
  type RouteEntry,
} from '../route.ts';
import type { DocumentContext } from './options.ts';
import { hoist, jsonContent, mapped } from './schemas.ts';

/** Descriptions of the statuses of file routes. */
const fileProblems = {
  408: 'The file did not arrive in time',
  412: 'The file has changed',
  416: 'The range is outside the file',
} as const;

const fileHeaders = ['ETag', 'Last-Modified', 'Accept-Ranges', 'Content-Disposition'] as const;

/** Whether a route responds with a file, of which clients may request a range. */
export const servesFile = ({ responses }: RouteEntry): boolean =>
  Object.values(responses).some((response) => 'fileTypes' in response);

const isOpenedByBrowsers = (route: RouteEntry): boolean => crossOriginUseOf(route) === 'navigation';

/** The statuses that a route can respond with because of its declaration. */
const statusesOf = (route: RouteEntry): number[] => {
  const guarded = route.permission !== 'public';
  return [
    ...(guarded || route.optionalCredentials?.includes(USUAL) ? [401] : []),
    ...(guarded || isOpenedByBrowsers(route) ? [403] : []),
    ...(route.params ? [404] : []),
    ...(route.forward ? [] : [400, 422]),
    ...(takesBody(route) ? [413, 415] : []),
    ...(isFileBody(route.body) ? [408] : []),
    ...(servesFile(route) ? [412, 416] : []),
    429,
    500,
    503,
  ];
};

/** An error response with an example, rendered as it is sent. */
const errorContent = (
  status: number,
  field: Field,
  route: RouteEntry,
  { schemas, options }: DocumentContext,
): object => {
  const schema = hoist(field.json, schemas);
  const error = options.render && errorExample(status, route, options.errorExample);
  if (!options.render || !error) return { content: { 'application/json': { schema } } };
  const value = options.render(error, { path: route.path } as Request);
  const examples = { [error.code]: { summary: error.message, value } };
  return { content: { 'application/json': { schema, examples } } };
};

const descriptionOf = (problem: string | Problem | undefined): string | undefined =>
  typeof problem === 'object' ? problem.description : problem;

/** The body of a declared response. */
const contentOf = (
  status: number,
  field: DeclaredResponse,
  route: RouteEntry,
  context: DocumentContext,
): object => {
  const { schemas } = context;
  if ('empty' in field) return {};
  if ('fileTypes' in field) {
    return { content: Object.fromEntries(field.fileTypes.map((type) => [type, {}])) };
  }
  if ('events' in field) {
    const data = mapped(field.events, (of) => hoist(of.json, schemas));
    return { content: { 'text/event-stream': { schema: { type: 'string' }, 'x-events': data } } };
  }
  if (!('streamed' in field)) {
    if (status >= 400) return errorContent(status, field, route, context);
    return jsonContent(field, schemas);
  }
  const schemaOf = (of: Field | null) => (of ? hoist(of.json, schemas) : { type: 'string' });
  return { content: mapped(field.streamed, (of) => ({ schema: schemaOf(of) })) };
};

/** The responses of a file route besides 200 and errors. All of them have the headers `always`. */
const partialResponses = (
  content: object,
  always: readonly ResponseHeader[],
): (readonly [string, object])[] => [
  [
    '206',
    {
      description: 'The requested range of the file',
      headers: headersOf(206, [...always, ...fileHeaders, 'Content-Range']),
      ...content,
    },
  ],
  [
    '304',
    {
      description: 'The client already has this version of the file',
      headers: headersOf(304, [...always, 'Accept-Ranges', 'Last-Modified']),
    },
  ],
];

/** The responses of a route by status: those that it declares, and the errors that it can respond with. */
export const responsesOf = (route: RouteEntry, context: DocumentContext): object => {
  const { options } = context;
  const problems: Readonly<Record<number, string | Problem>> = {
    ...fileProblems,
    ...options.problems,
    ...(isOpenedByBrowsers(route) && { 403: navigationProblem }),
    ...route.problems,
  };
  const always = Object.keys(route.headers ?? {}) as ResponseHeader[];
  const success = Object.entries(route.responses).flatMap(([key, field]) => {
    const status = Number(key);
    const isFile = 'fileTypes' in field;
    const description = status < 300 ? 'Success' : descriptionOf(problems[status]);
    const headers = headersOf(status, [
      ...always,
      ...(isFile ? fileHeaders : []),
      ...(route.responseHeaders?.[status] ?? []),
    ]);
    const content = contentOf(status, field, route, context);
    const described = [key, { description: description ?? 'See the body', headers, ...content }];
    return isFile ? [described, ...partialResponses(content, always)] : [described];
  });
  const own = Object.keys(route.problems ?? {}).map(Number);
  const errors = [...new Set([...statusesOf(route), ...own])].filter(
    (status) => problems[status] !== undefined && route.responses[status] === undefined,
  );
  const failure = errors.map((status) => [
    status,
    {
      description: descriptionOf(problems[status]),
      headers: headersOf(status, [...always, ...(route.responseHeaders?.[status] ?? [])]),
      ...errorContent(status, options.error, route, context),
    },
  ]);
  return Object.fromEntries([...success, ...failure]);
};
