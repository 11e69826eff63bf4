import { type Findings, finding, isDescribed, namesField } from './checks.ts';
import type { Operation } from './document.ts';
import { replaceAt } from './paths.ts';
import { referencesIn } from './references.ts';
import { call, createReferenced, createResources, type Subject, validBody } from './subject.ts';

/**
 * An id of another tenant's record in a body, at any depth, must be a 422 that names the field; ids of the
 * caller's own tenant must be accepted.
 */
export const foreignReferences = async (
  subject: Subject,
  operation: Operation,
): Promise<Findings> => {
  const headers = await subject.caller('own');
  const findings: Findings = [];
  const send = async (body: unknown) => {
    const parameters = await createResources(subject, operation.path, 'own', headers);
    return call(subject, operation, { headers, parameters, body });
  };
  const references = referencesIn(subject.document, operation);
  const accepted = await send(await validBody(subject, operation, 'own'));
  for (const { path, collection } of references) {
    const field = path.join('.');
    if (accepted.status >= 400 && namesField(accepted, field)) {
      findings.push(finding(operation, `with ${field} of its own tenant`, accepted));
    }
    const theirs = await createReferenced(subject, collection, 'other');
    const valid = await validBody(subject, operation, 'own');
    const answer = await send(replaceAt(valid, path, theirs));
    const isRight =
      answer.status === 422 && namesField(answer, field) && isDescribed(operation, answer);
    if (!isRight) findings.push(finding(operation, `with another tenant's ${field}`, answer));
  }
  return findings;
};
