import { type Findings, finding } from './checks.ts';
import { bodySchemaOf, type OpenApiDocument, type Operation, resolve } from './document.ts';
import { authorizedHeaders, call, createResources, type Subject } from './subject.ts';

/** Whether an operation is a POST with a JSON body, no field of which is required. */
export const hasOptionalFieldsOnly = (document: OpenApiDocument, operation: Operation): boolean => {
  const given = bodySchemaOf(operation);
  if (operation.method !== 'POST' || !given) return false;
  const { properties, required = [] } = resolve(document, given);
  return properties !== undefined && required.length === 0;
};

/** Without a body, an operation whose fields may all be left out must respond as to an empty object. */
export const omittedBodies = async (subject: Subject, operation: Operation): Promise<Findings> => {
  const send = async (body: object | undefined) => {
    // Another caller each time: some may do it once only, such as start a timer.
    const headers = await authorizedHeaders(subject, operation);
    const parameters = await createResources(subject, operation.path, 'own', headers);
    return call(subject, operation, { headers, parameters, body });
  };
  const [empty, omitted] = [await send({}), await send(undefined)];
  return omitted.status === empty.status ? [] : [finding(operation, 'without a body', omitted)];
};
