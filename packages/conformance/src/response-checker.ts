import type { ServerResponse } from 'node:http';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { type OpenApiDocument, type Operation, operationsOf } from './document.ts';
import { type Observer, observeResponses } from './observe.ts';

export interface ResponseChecker {
  /** Express middleware that checks every response; must be the first middleware of the app. */
  readonly observe: Observer;
  /** The responses that differ from the document, one sentence each. */
  readonly findings: readonly string[];
  /** Throws if there are findings. */
  verify(): void;
}

const isJson = (res: ServerResponse): boolean =>
  String(res.getHeader('content-type') ?? '').startsWith('application/json');

const parsed = (payload: string): unknown => {
  try {
    return JSON.parse(payload);
  } catch {
    return undefined;
  }
};

/** Headers that a response must have if they are described for it. */
const alwaysSent: ReadonlySet<string> = new Set(['ETag', 'Location', 'Content-Disposition']);

/** The same schema with references that can be resolved from outside the document. */
const inDocument = (schema: object): object =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/'));

interface Declared {
  readonly headers: NonNullable<OpenApiDocument['components']['headers']>;
  readonly operations: ReadonlyMap<string, Operation>;
  readonly ajv: Ajv2020;
  /** Validators of the schemas that were needed so far. */
  readonly compiled: Map<object, ValidateFunction>;
}

const read = (document: OpenApiDocument): Declared => {
  // Optimizing the code of a validator takes longer than what it saves in the few responses of a test file.
  const ajv = new Ajv2020({ strict: false, allErrors: true, code: { optimize: false } });
  formats.default(ajv);
  const { schemas, headers = {} } = document.components;
  ajv.addSchema({ $id: 'document', components: { schemas } });
  const operations = new Map(operationsOf(document).map((o) => [o.id, o]));
  return { ajv, headers, operations, compiled: new Map() };
};

const known = new WeakMap<object, Declared>();

/** What a document declares. The checkers of one document share it, because validators take long to compile. */
const declaredIn = (document: OpenApiDocument): Declared => {
  const declared = known.get(document) ?? read(document);
  known.set(document, declared);
  return declared;
};

/**
 * Checks every response of an app against what its OpenAPI document declares for the operation. The document is
 * read when the first response is sent, because an app is created with its observers before it has a document.
 */
export const createResponseChecker = (documentOf: () => object): ResponseChecker => {
  const declared = (): Declared => declaredIn(documentOf() as OpenApiDocument);
  const findings: string[] = [];

  /** Clients distinguish errors by code, so the document must list every code. */
  const unregisteredCode = (answered: unknown): string | undefined => {
    const { 'x-error-codes': codes } = documentOf() as OpenApiDocument;
    const { error } = Object(answered) as { readonly error?: unknown };
    if (codes === undefined || Object.hasOwn(codes, String(error))) return undefined;
    return `with the error code "${error}", which is not registered`;
  };

  const misfit = (
    operation: Operation,
    res: ServerResponse,
    payload: string,
  ): string | undefined => {
    const response = operation.responses[res.statusCode];
    if (!response) return 'which it does not declare';
    if (!response.content) return payload === '' ? undefined : 'with a body that is not declared';
    const [type = ''] = String(res.getHeader('content-type') ?? '').split(';');
    const isOtherType = type !== 'application/json' && response.content[type] !== undefined;
    if (!response.content['application/json'] || isOtherType) return undefined;
    const answered = isJson(res) ? parsed(payload) : undefined;
    if (answered === undefined) return 'which is not JSON';
    const { ajv, compiled } = declared();
    const { schema: usual, 'x-lesser': schema = usual } = response.content['application/json'];
    const fits = compiled.get(schema) ?? ajv.compile(inDocument(schema));
    compiled.set(schema, fits);
    if (!fits(answered)) return `which is invalid (${ajv.errorsText(fits.errors)})`;
    return res.statusCode >= 400 ? unregisteredCode(answered) : undefined;
  };

  /** A header that is described anywhere must be described where it is sent, and must match its description. */
  const misfitOfHeaders = (operation: Operation, res: ServerResponse): string | undefined => {
    const { ajv, headers, compiled } = declared();
    const described = operation.responses[res.statusCode]?.headers ?? {};
    for (const [name, { schema }] of Object.entries(headers)) {
      const sent = res.getHeader(name);
      if (sent === undefined || !schema) continue;
      if (!described[name]) return `with the header ${name}, which it does not declare`;
      const fits = compiled.get(schema) ?? ajv.compile(schema);
      compiled.set(schema, fits);
      if (![sent].flat().every((value) => fits(`${value}`))) {
        return `with the header ${name}: ${sent}, which is invalid`;
      }
    }
    const isMissing = (name: string): boolean =>
      alwaysSent.has(name) && described[name] !== undefined && !res.hasHeader(name);
    const missing = [...alwaysSent].find(isMissing);
    return missing && `without the header ${missing}`;
  };

  const check = (id: string, res: ServerResponse, payload: string): void => {
    const operation = declared().operations.get(id);
    const problem = operation
      ? (misfit(operation, res, payload) ?? misfitOfHeaders(operation, res))
      : 'but is not in the document';
    if (problem)
      findings.push(`${id} answered ${res.statusCode} ${problem}: ${payload.slice(0, 300)}`);
  };

  return {
    findings,
    verify() {
      if (findings.length > 0)
        throw new Error(`Responses differ from the document:\n${findings.join('\n')}`);
    },
    observe: observeResponses((res, payload) => {
      const { operation, isPage } = res.locals;
      const isHead = res.req.method === 'HEAD';
      if (operation !== undefined && !isPage && !isHead && res.statusCode !== 304) {
        check(operation, res, payload);
      }
    }),
  };
};
