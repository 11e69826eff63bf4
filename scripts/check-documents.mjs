import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './bootstrap.mjs';

const read = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'));

const openApiProblems = async (document) => {
  const { Validator } = await import('@seriousme/openapi-schema-validator');
  const { valid, errors } = await new Validator().validate(structuredClone(document));
  return valid ? [] : [JSON.stringify(errors, null, 2)];
};

const asyncApiProblems = async (document) => {
  const { Parser } = await import('@asyncapi/parser');
  const diagnostics = await new Parser().validate(JSON.stringify(document));
  // 0 is an error, 1 a warning; higher values are style hints.
  return diagnostics
    .filter(({ severity }) => severity === 0)
    .map(({ message, path }) => `${path.join('.')}: ${message}`);
};

/** Texts that end a sentence twice: a description of a problem has no full stop, because some are added to others. */
const doubledStops = (document) =>
  (JSON.stringify(document).match(/[^".]*[^".]\.\.(?![./])/g) ?? []).map(
    (text) => `two full stops in "${text}"`,
  );

/**
 * Checks that the OpenAPI and AsyncAPI documents are valid, and that planted errors in each are
 * detected.
 */
export const documents = async () => {
  const contract = 'packages/contracts/deployment-automation.openapi.json';
  for (const path of ['apps/identity/openapi.json', 'apps/crm/openapi.json', contract]) {
    const document = read(path);
    const problems = [...(await openApiProblems(document)), ...doubledStops(document)];
    if (problems.length > 0) throw new Error(`${path}: ${problems.join('\n')}`);
    const faulty = { ...document, paths: { '/x': { get: { responses: { 200: {} } } } } };
    const doubled = { info: { description: 'It is in use..' } };
    if ((await openApiProblems(faulty)).length === 0 || doubledStops(doubled).length === 0)
      throw new Error(`${path}: a planted error is not detected.`);
  }
  for (const path of ['packages/contracts/asyncapi.json', 'apps/crm/asyncapi.json']) {
    const document = read(path);
    const problems = await asyncApiProblems(document);
    if (problems.length > 0) throw new Error(`${path}: ${problems.join('\n')}`);
    const faulty = { ...document, operations: { x: { action: 'shout', channel: {} } } };
    if ((await asyncApiProblems(faulty)).length === 0)
      throw new Error(`${path}: a planted error is not detected.`);
  }
};
