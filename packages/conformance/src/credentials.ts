import { type Findings, finding, isDescribed, isError } from './checks.ts';
import type { Operation, SecurityRequirement, SecurityScheme } from './document.ts';
import { sample } from './sample.ts';
import { authorizedHeaders, call, type Subject, validBody } from './subject.ts';

type Headers = Readonly<Record<string, string>>;

/** A request with one missing or invalid credential. */
interface Attempt {
  readonly what: string;
  readonly headers: Headers;
}

/** The header that carries a credential; in lower case. */
const headerOf = (name: string, scheme: SecurityScheme): string => {
  if (scheme.type === 'http') return 'authorization';
  if (scheme.type === 'apiKey' && scheme.in === 'header' && scheme.name) {
    return scheme.name.toLowerCase();
  }
  throw new Error(`The security scheme "${name}" cannot be tested: it is not sent in a header.`);
};

const without = (headers: Headers, names: readonly string[]): Headers =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => !names.includes(name.toLowerCase())),
  );

/** Values that are no valid credential of this scheme. `valid` is one of the operation's callers. */
const invalidValues = ({ type }: SecurityScheme, valid: string): readonly string[] => {
  const altered = valid === '' ? [] : [`${valid}x`, valid.slice(0, -1)];
  return type === 'http'
    ? ['Bearer ', 'Bearer a.b.c', 'Basic YTpi', ...altered]
    : ['', 'wrong', ...altered];
};

/**
 * All requests that meet the operation's requirements except for one scheme. The caller's other credentials are
 * sent, because none may replace the missing one.
 */
const attemptsOf = (
  schemes: Readonly<Record<string, SecurityScheme>>,
  requirements: readonly SecurityRequirement[],
  authorized: Headers,
): Attempt[] => {
  const schemeOf = (name: string): SecurityScheme => {
    const scheme = schemes[name];
    if (!scheme) throw new Error(`The document has no security scheme "${name}".`);
    return scheme;
  };
  return requirements.flatMap((requirement) => {
    const alternatives = requirements
      .filter((other) => other !== requirement)
      .flatMap((other) => Object.keys(other).map((name) => headerOf(name, schemeOf(name))));
    return Object.keys(requirement).flatMap((name) => {
      const scheme = schemeOf(name);
      const header = headerOf(name, scheme);
      const valid =
        Object.entries(authorized).find(([key]) => key.toLowerCase() === header)?.[1] ?? '';
      const headers = without(authorized, [...alternatives, header]);
      const wrong = invalidValues(scheme, valid).map((value) => ({
        what: `with the ${name} "${value.slice(0, 20)}"`,
        headers: { ...headers, [header]: value },
      }));
      return [{ what: `without the ${name}`, headers }, ...wrong];
    });
  });
};

/**
 * Each security scheme that the operation requires, in turn missing and invalid, must be a 401. An operation
 * that is not public must require one.
 */
export const wrongCredentials = async (
  subject: Subject,
  operation: Operation,
): Promise<Findings> => {
  const { security = [], id } = operation;
  if (security.every((requirement) => Object.keys(requirement).length === 0)) {
    return [`${id} requires no credential.`];
  }
  const authorized = await authorizedHeaders(subject, operation);
  const schemes = subject.document.components.securitySchemes ?? {};
  const findings: Findings = [];
  for (const { what, headers } of attemptsOf(schemes, security, authorized)) {
    const answer = await call(subject, operation, { headers });
    const isRight =
      isError(operation, answer, [401, 'unauthenticated']) && isDescribed(operation, answer);
    if (!isRight) findings.push(finding(operation, what, answer));
  }
  return findings;
};

/** Invalid credentials in the header `Authorization` by the HTTP authentication scheme. */
const invalid = { bearer: 'Bearer a.b.c', basic: `Basic ${btoa('nobody:a-guess')}` } as const;

/** Credentials of OAuth clients may be in the body instead of the header, but not in both. */
const withoutClient = (body: unknown): unknown => {
  if (typeof body !== 'object' || body === null || body instanceof Blob) return body;
  const kept = Object.entries(body).filter(([name]) => !/^client_(id|secret)$/.test(name));
  return body instanceof FormData ? body : Object.fromEntries(kept);
};

const requiredQuery = ({ document }: Subject, { parameters = [] }: Operation): string => {
  const required = parameters.filter((parameter) => parameter.in === 'query' && parameter.required);
  const query = new URLSearchParams(
    required.map(({ name, schema }): [string, string] => [name, String(sample(document, schema))]),
  );
  return query.size === 0 ? '' : `?${query}`;
};

/**
 * Each kind of credential that an operation accepts without requiring one must be a 401 if it is invalid. A kind that it
 * does not declare must have no effect, or be a 401 too if the operation takes another kind in the same header.
 */
export const optionalCredentials = async (
  subject: Subject,
  operation: Operation,
): Promise<Findings> => {
  const { securitySchemes: known = {} } = subject.document.components;
  const declared = (operation.security ?? []).flatMap(Object.keys).map((name) => known[name]);
  const request = {
    body: withoutClient(await validBody(subject, operation, 'own')),
    query: requiredQuery(subject, operation),
  };
  const without = await call(subject, operation, request);
  const findings: Findings = [];
  for (const [kind, authorization] of Object.entries(invalid)) {
    const answer = await call(subject, operation, { ...request, headers: { authorization } });
    const isRejected = answer.status === 401 && answer.text !== without.text;
    const isDeclared = declared.some((scheme) => scheme?.scheme === kind);
    const isHeaderTaken = declared.some((scheme) => scheme?.type === 'http');
    const isRight = isDeclared
      ? isRejected
      : answer.status === without.status || (isHeaderTaken && isRejected);
    if (!isRight) findings.push(finding(operation, `with an invalid ${kind} credential`, answer));
  }
  return findings;
};
