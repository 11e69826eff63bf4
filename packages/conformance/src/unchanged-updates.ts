import { isDeepStrictEqual } from 'node:util';
import { type Findings, finding } from './checks.ts';
import {
  bodySchemaOf,
  type OpenApiDocument,
  type Operation,
  operationsOf,
  resolve,
} from './document.ts';
import {
  type ApiResponse,
  authorizedHeaders,
  call,
  createResources,
  type Subject,
  validBody,
} from './subject.ts';

/** The operation that reads what a `PUT` changes. */
const readerOf = (document: OpenApiDocument, { path }: Operation): Operation | undefined =>
  operationsOf(document).find((other) => other.method === 'GET' && other.path === path);

/** Whether an operation is a `PUT` of something that can be read at the same path. */
export const updatesWhatIsRead = (document: OpenApiDocument, operation: Operation): boolean =>
  operation.method === 'PUT' && readerOf(document, operation) !== undefined;

/** The fields of a resource that a `PUT` takes; undefined if the resource lacks one that is required. */
const fieldsTaken = (
  document: OpenApiDocument,
  operation: Operation,
  resource: object,
): object | undefined => {
  const { properties = {}, required = [] } = resolve(document, bodySchemaOf(operation) ?? {});
  if (!required.every((name) => Object.hasOwn(resource, name))) return undefined;
  return Object.fromEntries(
    Object.entries(resource).filter(([name]) => Object.hasOwn(properties, name)),
  );
};

/** What readers see of a resource, with its version. */
const stateOf = ({ text, headers }: ApiResponse): string => `${headers.get('ETag')} ${text}`;

/**
 * A `PUT` of the values that a resource has must succeed and leave it as it is, with its version and its times, and without
 * a trace: whether the client repeats its request, or sends back what it has read.
 */
export const unchangedUpdates = async (
  subject: Subject,
  operation: Operation,
): Promise<Findings> => {
  const reader = readerOf(subject.document, operation) as Operation;
  const headers = await authorizedHeaders(subject, operation);
  const parameters = await createResources(subject, operation.path, 'own', headers);
  const read = () => call(subject, reader, { headers, parameters });
  const put = (body: unknown) => call(subject, operation, { headers, parameters, body });
  const valid = await validBody(subject, operation, 'own');
  const first = await put(valid);
  if (first.status !== 200) return [finding(operation, 'with a valid body', first)];
  const before = await read();
  // A new name may be the path of a resource.
  if (before.status === 404) return [];
  const findings: Findings = [];
  for (const [what, body] of [
    ['repeated', valid],
    ['with what was read', fieldsTaken(subject.document, operation, before.body.data as object)],
  ] as const) {
    if (body === undefined) continue;
    const traces = await subject.traces?.();
    const answer = await put(body);
    if (answer.status !== 200) findings.push(finding(operation, what, answer));
    if (!isDeepStrictEqual(await subject.traces?.(), traces)) {
      findings.push(`${operation.id}, ${what}, left a trace.`);
    }
    const after = await read();
    if (stateOf(after) !== stateOf(before))
      findings.push(finding(reader, `after ${operation.id} ${what}`, after));
  }
  return findings;
};
