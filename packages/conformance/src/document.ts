/** The parts of an OpenAPI 3.1 document that the tests use. */
export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  /** The error codes and their meanings. */
  readonly 'x-error-codes'?: Readonly<Record<string, string>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly responses?: Readonly<Record<string, ResponseObject>>;
    readonly headers?: Readonly<Record<string, HeaderObject>>;
    readonly securitySchemes?: Readonly<Record<string, SecurityScheme>>;
  };
}

/** How a credential is sent. */
export interface SecurityScheme {
  readonly type: string;
  /** For `http`: the authentication scheme, in lower case. */
  readonly scheme?: string;
  /** For an `apiKey`: where it is sent, and under which name. */
  readonly in?: string;
  readonly name?: string;
}

/** Security schemes by name, all of which are required. */
export type SecurityRequirement = Readonly<Record<string, readonly string[]>>;

export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly examples?: readonly unknown[];
  readonly additionalProperties?: unknown;
  /** For an id: the collection of the record that it refers to. */
  readonly 'x-reference'?: string;
}

interface Example {
  readonly value: { readonly error?: string; readonly message?: string };
}

interface Content {
  readonly content?: Readonly<
    Record<
      string,
      {
        readonly schema: JsonSchema;
        /** The schema of what is sent also to callers who may not receive all of it. */
        readonly 'x-lesser'?: JsonSchema;
        readonly examples?: Readonly<Record<string, Example>>;
      }
    >
  >;
}

/** A described response: its headers by name, each a schema or a reference to one. */
export interface ResponseObject extends Content {
  readonly $ref?: string;
  readonly headers?: Readonly<Record<string, HeaderObject>>;
}

interface HeaderObject {
  readonly $ref?: string;
  readonly schema?: JsonSchema;
}

interface OperationObject {
  readonly operationId: string;
  readonly 'x-permissions'?: 'public' | readonly string[];
  /** Alternatives, one of which must be met. */
  readonly security?: readonly SecurityRequirement[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: 'path' | 'query' | 'header';
    readonly required: boolean;
    readonly schema: JsonSchema;
  }[];
  readonly requestBody?: Content & {
    /** For a file: the accepted types of its content, and its maximum size. */
    readonly 'x-file'?: { readonly types: readonly string[]; readonly maxBytes: number };
  };
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

/** One operation with its path and method. */
export interface Operation extends OperationObject {
  readonly id: string;
  readonly path: string;
  readonly method: string;
}

/** The responses of an operation, with references to shared responses resolved. */
const responsesOf = (
  { components }: OpenApiDocument,
  { responses }: OperationObject,
): Record<string, ResponseObject> =>
  Object.fromEntries(
    Object.entries(responses).map(([status, response]) => {
      const name = response.$ref?.replace('#/components/responses/', '');
      return [status, (name && components.responses?.[name]) || response];
    }),
  );

const known = new WeakMap<OpenApiDocument, readonly Operation[]>();

/** Every operation of a document, which must not change afterwards, with its path, method and responses. */
export const operationsOf = (document: OpenApiDocument): readonly Operation[] => {
  const found =
    known.get(document) ??
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        ...operation,
        responses: responsesOf(document, operation),
        id: operation.operationId,
        path,
        method: method.toUpperCase(),
      })),
    );
  known.set(document, found);
  return found;
};

/** Resolves a reference into `components`. */
export const resolve = (document: OpenApiDocument, schema: JsonSchema): JsonSchema => {
  if (schema.$ref === undefined) return schema;
  const found = document.components.schemas[schema.$ref.replace('#/components/schemas/', '')];
  if (!found) throw new Error(`${schema.$ref} is not in the document.`);
  return resolve(document, found);
};

/** The schema of an operation's JSON body; undefined if it has none. */
export const bodySchemaOf = (operation: Operation): JsonSchema | undefined =>
  operation.requestBody?.content?.['application/json']?.schema;

export const pathParametersOf = (path: string): string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
