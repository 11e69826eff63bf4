import {
  type Field,
  type FieldErrors,
  readTexts,
  type Shape,
  shape,
  shortName,
  validate,
} from '@tessera/fields';
import type { Request } from 'express';
import { isFileBody } from './files/file-body.ts';
import { notFound, validationFailed } from './http-error.ts';
import { isBinary, type RequestBody, type RouteEntry } from './route.ts';

/** Whether the method allows a body, even if the route does not use one. */
export const takesBody = (route: RouteEntry): boolean =>
  route.body !== undefined || !['get', 'head', 'options'].includes(route.method);

const checked = (
  field: Field | undefined,
  value: unknown,
  root: string,
  errors: FieldErrors,
): unknown => {
  if (!field) return undefined;
  const result = validate(field, value, root);
  if (result.ok) return result.value;
  Object.assign(errors, result.errors);
  return undefined;
};

/** The message for a query parameter that the route does not have. */
export const unknownParameter = (name: string): string =>
  `${name} is not a parameter of this operation`;

/** `custom.tier` and `custom[tier]`: a member of an object. */
const MEMBER = /^(\w+)(?:\.(.+)|\[(.+)\])$/s;

/** The object that a parameter is a member of, if the route declares one, and the member's key. */
const memberOf = (declared: Shape | undefined, name: string) => {
  const [, object = '', dotted, bracketed = ''] = MEMBER.exec(name) ?? [];
  const isObject =
    declared &&
    Object.hasOwn(declared.fields, object) &&
    declared.fields[object]?.json.type === 'object';
  return isObject ? { object, key: dotted ?? bracketed } : undefined;
};

/** Objects of the query by name; without a prototype, as keys come from the caller. */
type Objects = Map<string, Record<string, unknown>>;

const objectNamed = (objects: Objects, name: string): Record<string, unknown> => {
  const object = objects.get(name) ?? (Object.create(null) as Record<string, unknown>);
  objects.set(name, object);
  return object;
};

const checkedQuery = (
  declared: Shape | undefined,
  query: Readonly<Record<string, unknown>>,
  errors: FieldErrors,
): unknown => {
  const known: Record<string, unknown> = {};
  const objects: Objects = new Map();
  const misplaced: FieldErrors = Object.create(null);
  for (const [sent, value] of Object.entries(query)) {
    const name = shortName(sent);
    const member = memberOf(declared, name);
    if (member && !Array.isArray(value)) {
      const object = objectNamed(objects, member.object);
      // `custom.tier` and `custom[tier]` are the same parameter.
      if (Object.hasOwn(object, member.key)) {
        const once = `${member.object}.${member.key}`;
        misplaced[once] = [`${once} must be given once`];
      }
      object[member.key] = value;
    } else if (!member && (!declared || !Object.hasOwn(declared.fields, name))) {
      misplaced[name] = [unknownParameter(name)];
    } else if (Array.isArray(value)) misplaced[name] = [`${name} must be given once`];
    else known[name] = value;
  }
  for (const [name, object] of objects) known[name] = { ...object };
  const value = declared && checked(declared, readTexts(declared, known), 'query', errors);
  Object.assign(errors, misplaced);
  return value;
};

const checkedBody = (
  declared: RequestBody | undefined,
  sent: unknown,
  errors: FieldErrors,
): unknown => {
  // A file is read after everything else was checked.
  if (isFileBody(declared)) return undefined;
  if (isBinary(declared)) {
    if (!Buffer.isBuffer(sent) || sent.length === 0) errors.body = ['body is required'];
    return sent;
  }
  return checked(declared ?? (sent === undefined ? undefined : NOTHING), sent, 'body', errors);
};

/** The body of a route that takes none, for requests that send one anyway. */
const NOTHING = shape({});

/**
 * Throws a URIError, which becomes a 400: the parser would replace invalid bytes and search for something else.
 */
const refuseMalformedQuery = (url: string): void => {
  const start = url.indexOf('?');
  if (start >= 0 && url.includes('%', start)) decodeURIComponent(url.slice(start));
};

/** The validated input of a request; a file is not part of it. */
export interface RequestInput {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

/** Validates the input of a request, except a body for `acceptBody`. Throws 404 for an invalid id, 400 for malformed UTF-8, otherwise 422. */
export const readInput = (route: RouteEntry, req: Request): RequestInput => {
  // Without a prototype, a parameter named "__proto__" is an ordinary key.
  const errors: FieldErrors = Object.create(null);
  const texts = route.params && readTexts(route.params, req.params);
  const params = checked(route.params, texts, 'path', errors);
  refuseMalformedQuery(req.originalUrl);
  // An invalid id cannot exist.
  if (Object.keys(errors).length > 0) throw notFound();
  const query = checkedQuery(route.query, req.query, errors);
  const body = route.acceptBody ? undefined : checkedBody(route.body, req.body, errors);
  if (Object.keys(errors).length > 0) throw validationFailed(errors);
  return { params, query, body };
};
