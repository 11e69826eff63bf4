import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { bodySchemaOf, type Operation, operationsOf, pathParametersOf } from './document.ts';
import { invalidBodies } from './invalid-bodies.ts';
import {
  type ApiResponse,
  authorizedHeaders,
  call,
  createResources,
  type Subject,
  validBody,
} from './subject.ts';

/** The violations that a check has found, one sentence each; empty if the operation passes. */
export type Findings = string[];

/** Describes an unexpected response to an operation. */
export const finding = (operation: Operation, what: string, answer: ApiResponse): string =>
  `${operation.id}, ${what}: ${answer.status} ${answer.text.slice(0, 300)}`;

/** Every operation must declare who may call it. */
export const withoutAccess = (operations: readonly Operation[]): Findings =>
  operations
    .filter(({ 'x-permissions': marks }) => marks !== 'public' && !Array.isArray(marks))
    .map(({ id }) => `${id} declares neither a permission nor "public".`);

/** Whether a response is an error with this status and code. The response to HEAD has no body and so no code. */
export const isError = (
  { method }: Operation,
  { status, body }: ApiResponse,
  [expected, code]: readonly [status: number, code: string],
): boolean => status === expected && (method === 'HEAD' || body.error === code);

/** Whether an error response is one of the examples in the document. */
export const isDescribed = (operation: Operation, { status, body }: ApiResponse): boolean => {
  if (operation.method === 'HEAD') return true;
  const { examples } = operation.responses[status]?.content?.['application/json'] ?? {};
  return examples === undefined || Object.hasOwn(examples, String(body.error));
};

/** Without each required permission in turn, the operation must respond with 403 and name that permission. */
export const withoutPermission = async (
  subject: Subject,
  operation: Operation,
): Promise<Findings> => {
  const needed = [operation['x-permissions'] ?? []].flat().filter((p) => p !== 'public');
  const findings: Findings = [];
  for (const permission of needed) {
    const headers = await subject.caller('own', permission);
    const parameters = { ...(await subject.parameters?.('own', operation.path)) };
    const answer = await call(subject, operation, { headers, parameters });
    const named = String(answer.body.required_permission);
    const isNamed =
      operation.method === 'HEAD' || named === permission || named.endsWith(`.${permission}`);
    const isRight = isError(operation, answer, [403, 'permission_denied']);
    if (!isRight || !isNamed || !isDescribed(operation, answer)) {
      findings.push(finding(operation, `without ${permission}`, answer));
    }
  }
  return findings;
};

/** What the other tenant sees of the resource in a path, to detect changes. */
const read = async (
  subject: Subject,
  operation: Operation,
  headers: Record<string, string>,
  parameters: Record<string, string>,
): Promise<string> => {
  const last = pathParametersOf(operation.path).at(-1);
  const thing = operation.path.slice(0, operation.path.indexOf(`{${last}}`) + `{${last}}`.length);
  const collection = thing.slice(0, thing.lastIndexOf('/'));
  const views = operationsOf(subject.document).filter(
    ({ method, path }) => method === 'GET' && (path === thing || path === collection),
  );
  const answers = await Promise.all(
    views.map((view) => call(subject, view, { headers, parameters })),
  );
  return answers.map(({ status, text }) => `${status} ${text}`).join('\n');
};

/**
 * With ids of another tenant, one by one and all at once, the operation must return no data and change nothing.
 */
export const foreignIds = async (subject: Subject, operation: Operation): Promise<Findings> => {
  const names = pathParametersOf(operation.path);
  const [headers, theirHeaders] = [await subject.caller('own'), await subject.caller('other')];
  const theirs = await createResources(subject, operation.path, 'other', theirHeaders);
  const ours = await createResources(subject, operation.path, 'own', headers);
  const before = await read(subject, operation, theirHeaders, theirs);
  const findings: Findings = [];
  // A number that both have, such as that of a version, is no id of the other tenant.
  const differing = names.filter((name) => theirs[name] !== ours[name]);
  for (const foreign of [...differing.map((name) => [name]), names]) {
    const parameters = Object.fromEntries(
      names.map((name) => [name, (foreign.includes(name) ? theirs : ours)[name] as string]),
    );
    const body = await validBody(subject, operation, 'own');
    const answer = await call(subject, operation, { headers, parameters, body });
    if (![403, 404].includes(answer.status) || answer.body.data !== undefined) {
      findings.push(finding(operation, `with a foreign ${foreign.join(', ')}`, answer));
    }
  }
  const after = await read(subject, operation, theirHeaders, theirs);
  if (after !== before) findings.push(`${operation.id} changed what the other tenant sees.`);
  return findings;
};

const ajv = new Ajv2020({ strict: false });
formats.default(ajv);

/** Whether the errors name the field, a part of it, or the object that contains it. */
export const namesField = (answer: ApiResponse, field: string): boolean =>
  Object.keys((answer.body.errors as object | undefined) ?? {}).some(
    (key) =>
      field === 'body' ||
      key === field ||
      key.startsWith(`${field}.`) ||
      field.startsWith(`${key}.`),
  );

/** OAuth endpoints also accept forms, and respond as their RFCs require: 4xx without our field names. */
const answersByRfc = (operation: Operation): boolean =>
  operation.requestBody?.content?.['application/x-www-form-urlencoded'] !== undefined;

/** An invalid body must be a 422 that names the field; no body may cause a 5xx. */
export const badBodies = async (subject: Subject, operation: Operation): Promise<Findings> => {
  const schema = bodySchemaOf(operation);
  if (!schema) return [];
  const fits = ajv.compile({ ...schema, components: subject.document.components });
  const valid = await validBody(subject, operation, 'own');
  const parameters = await createResources(subject, operation.path, 'own');
  const headers = await authorizedHeaders(subject, operation);
  const findings: Findings = [];
  for (const { what, field, body, alwaysRefused } of invalidBodies(
    subject.document,
    schema,
    valid,
  )) {
    const answer = await call(subject, operation, { headers, parameters, body });
    const refused = !answersByRfc(operation) && (alwaysRefused || !fits(body));
    const right = refused
      ? answer.status === 422 && namesField(answer, field) && isDescribed(operation, answer)
      : answer.status < 500;
    if (!right) findings.push(finding(operation, what, answer));
  }
  return findings;
};

/** Unknown, repeated and invalid query parameters must be a 422 that names them. */
export const badQueries = async (subject: Subject, operation: Operation): Promise<Findings> => {
  if (operation.method !== 'GET' || operation['x-permissions'] === 'public') return [];
  const parameters = await createResources(subject, operation.path, 'own');
  const headers = await authorizedHeaders(subject, operation);
  const inQuery = (operation.parameters ?? []).filter((p) => p.in === 'query');
  const wrong: [query: string, name: string][] = [['?surprise=1', 'surprise']];
  for (const { name, schema } of inQuery) {
    wrong.push([`?${name}=1&${name}=2`, name], [`?${name}=a%00b`, name]);
    if (schema.type !== 'string' || schema.format || schema.enum) wrong.push([`?${name}=~`, name]);
    if (schema.maxLength) wrong.push([`?${name}=${'x'.repeat(schema.maxLength + 1)}`, name]);
  }
  const findings: Findings = [];
  for (const [query, name] of wrong) {
    const answer = await call(subject, operation, { headers, parameters, query });
    if (answer.status !== 422 || !namesField(answer, name)) {
      findings.push(finding(operation, query.slice(0, 40), answer));
    }
  }
  return findings;
};

/** Path parameters that cannot be ids must be a 404, and never a 5xx. */
export const badPaths = async (subject: Subject, operation: Operation): Promise<Findings> => {
  const headers = await authorizedHeaders(subject, operation);
  const known = await subject.parameters?.('own', operation.path);
  const findings: Findings = [];
  for (const name of pathParametersOf(operation.path)) {
    for (const value of ['nope', '%00', '..%2f', "'%20or%201=1--", 'x'.repeat(2000)]) {
      const parameters = { ...known, [name]: value };
      const body = await validBody(subject, operation, 'own');
      const answer = await call(subject, operation, { headers, parameters, body });
      if (![400, 403, 404].includes(answer.status)) {
        findings.push(finding(operation, `{${name}} = ${value.slice(0, 20)}`, answer));
      }
    }
  }
  return findings;
};

/** With the token of a client, which has no user, an operation must respond with a success or a 4xx. */
export const withClientToken = async (
  subject: Subject,
  operation: Operation,
): Promise<Findings> => {
  const client = await subject.client?.();
  if (!client) return [];
  const given = await createResources(subject, operation.path, 'own');
  const unknown = Object.fromEntries(Object.keys(given).map((name) => [name, crypto.randomUUID()]));
  const body = await validBody(subject, operation, 'own');
  const findings: Findings = [];
  for (const parameters of [unknown, given]) {
    const answer = await call(subject, operation, { headers: client, parameters, body });
    if (answer.status >= 500) findings.push(finding(operation, 'with a client token', answer));
  }
  return findings;
};
