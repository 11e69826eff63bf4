import { randomUUID } from 'node:crypto';
import { type Findings, finding } from './checks.ts';
import type { Operation } from './document.ts';
import { fileOptionsOf } from './sample-file.ts';
import { authorizedHeaders, call, createResources, type Subject, validBody } from './subject.ts';

const HEADER = 'Idempotency-Key';

/** Whether an operation takes an `Idempotency-Key`. Uploads are left out: each sample has the same content. */
export const takesIdempotencyKey = (operation: Operation): boolean =>
  fileOptionsOf(operation) === undefined &&
  (operation.parameters ?? []).some(
    (parameter) =>
      parameter.name === HEADER ||
      ('$ref' in parameter && parameter.$ref === `#/components/parameters/${HEADER}`),
  );

/**
 * A request that is repeated with its key must get the first response again. With the same key and another
 * body it must be a 422, and with another key it must be a request of its own.
 */
export const repeatedRequests = async (
  subject: Subject,
  operation: Operation,
): Promise<Findings> => {
  const authorized = await authorizedHeaders(subject, operation);
  const parameters = await createResources(subject, operation.path, 'own', authorized);
  const body = await validBody(subject, operation, 'own');
  const headers = { ...authorized, [HEADER]: randomUUID() };
  const send = (sent: unknown) => call(subject, operation, { headers, parameters, body: sent });
  const [first, second] = [await send(body), await send(body)];
  const findings: Findings = [];
  if (first.status >= 300 || first.headers.has('Idempotent-Replayed')) {
    findings.push(finding(operation, 'with a new key', first));
  }
  const isSame =
    second.status === first.status &&
    second.text === first.text &&
    ['ETag', 'Location'].every((name) => second.headers.get(name) === first.headers.get(name));
  if (!isSame || second.headers.get('Idempotent-Replayed') !== 'true') {
    findings.push(finding(operation, 'repeated with its key', second));
  }
  const other = await send(await validBody(subject, operation, 'own'));
  if (other.status !== 422 || other.body.error !== 'idempotency_key_reused') {
    findings.push(finding(operation, 'with the key of another request', other));
  }
  return findings;
};
