/**
 * An AsyncAPI document without schemas: the embedded broker then accepts any record, as Apache Kafka does. With them it
 * also rejects a valid record of more than 512 bytes, unless it is the last of its batch: it reads the beginning of the
 * next record as a part of it.
 */
export const withoutSchemas = (document: object): object => {
  const { components = {} } = document as { readonly components?: { readonly messages?: object } };
  const names = Object.keys(components.messages ?? {});
  return {
    ...document,
    components: { messages: Object.fromEntries(names.map((name) => [name, { name }])) },
  };
};
