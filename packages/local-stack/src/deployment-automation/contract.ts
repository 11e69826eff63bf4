import { createRequire } from 'node:module';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

interface Content {
  readonly content: { readonly 'application/json': { readonly schema: object } };
}

interface OperationObject {
  readonly operationId: string;
  readonly parameters?: readonly { readonly $ref: string }[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}

type PathItem = Readonly<Record<string, OperationObject | unknown[]>>;

interface Contract {
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: object;
}

/** An operation of the contract with compiled path and schemas. */
export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly address: RegExp;
  readonly needsKey: boolean;
  /** The errors of a body; undefined if it is valid. */
  problem(body: unknown): string | undefined;
  /** Throws if a response violates the contract. */
  requireDeclaredResponse(status: number, body: unknown): void;
}

const contract = createRequire(import.meta.url)(
  '@tessera/contracts/deployment-automation.openapi.json',
) as Contract;

const ajv = new Ajv2020({ strict: false });
formats.default(ajv);

/** The validator of a content, compiled when it is first used: most tests that load this package use none. */
const validatorOf = (content: Content): (() => ValidateFunction) => {
  let validate: ValidateFunction | undefined;
  return () => {
    validate ??= ajv.compile({
      ...content.content['application/json'].schema,
      components: contract.components,
    });
    return validate;
  };
};

const operationOf = (path: string, method: string, operation: OperationObject): Operation => {
  const request = operation.requestBody && validatorOf(operation.requestBody);
  const responses = Object.fromEntries(
    Object.entries(operation.responses).map(([status, content]) => [status, validatorOf(content)]),
  );
  return {
    id: operation.operationId,
    method: method.toUpperCase(),
    address: new RegExp(`^${path.replace(/\{(\w+)\}/g, '(?<$1>[0-9a-f-]{36})')}$`),
    needsKey: JSON.stringify(operation.parameters ?? []).includes('IdempotencyKey'),
    problem(body) {
      const validate = request?.();
      return !validate || validate(body) ? undefined : ajv.errorsText(validate.errors);
    },
    requireDeclaredResponse(status, body) {
      const validate = (responses[status] ?? responses.default)?.();
      if (validate?.(body)) return;
      throw new Error(`${operation.operationId}: the response ${status} violates the contract.`);
    },
  };
};

const METHODS = ['get', 'put', 'post', 'delete'];

/** All operations of the contract. */
export const operations: readonly Operation[] = Object.entries(contract.paths).flatMap(
  ([path, item]) =>
    Object.entries(item)
      .filter(([method]) => METHODS.includes(method))
      .map(([method, operation]) => operationOf(path, method, operation as OperationObject)),
);
