/** The part of an OpenAPI 3.1 document that the tests are made from. */
export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  /** The codes in the member `error` of a failure. */
  readonly 'x-error-codes'?: Readonly<Record<string, string>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly responses?: Readonly<Record<string, ResponseObject>>;
    readonly headers?: Readonly<Record<string, HeaderObject>>;
  };
}

export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly examples?: readonly unknown[];
  readonly additionalProperties?: unknown;
  /** The collection whose records a value of this schema is the id of. */
  readonly 'x-reference'?: string;
}

interface Example {
  readonly value: { readonly error?: string; readonly message?: string };
}

interface Content {
  readonly content?: Readonly<
    Record<
      string,
      { readonly schema: JsonSchema; readonly examples?: Readonly<Record<string, Example>> }
    >
  >;
}

/** An answer as it is described: its headers by name, each a schema or a reference to one. */
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
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: 'path' | 'query' | 'header';
    readonly required: boolean;
    readonly schema: JsonSchema;
  }[];
  readonly requestBody?: Content & {
    /** A file: the types of its content, and its largest size. */
    readonly 'x-file'?: { readonly types: readonly string[]; readonly maxBytes: number };
  };
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

/** One operation, with its address. */
export interface Operation extends OperationObject {
  readonly id: string;
  readonly path: string;
  readonly method: string;
}

/** The answers of an operation, those included that are described once for many. */
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

/** Every operation of a document, with its address and its answers. */
export const operationsOf = (document: OpenApiDocument): Operation[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      responses: responsesOf(document, operation),
      id: operation.operationId,
      path,
      method: method.toUpperCase(),
    })),
  );

/** The schema that a reference into `components` means. */
export const resolve = (document: OpenApiDocument, schema: JsonSchema): JsonSchema => {
  if (schema.$ref === undefined) return schema;
  const found = document.components.schemas[schema.$ref.replace('#/components/schemas/', '')];
  if (!found) throw new Error(`${schema.$ref} is not in the document.`);
  return resolve(document, found);
};

/** The JSON body that an operation takes, if it takes one. */
export const bodySchemaOf = (operation: Operation): JsonSchema | undefined =>
  operation.requestBody?.content?.['application/json']?.schema;

export const pathParametersOf = (path: string): string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
