import { randomUUID } from 'node:crypto';
import { type JsonSchema, type OpenApiDocument, resolve } from './document.ts';

let samples = 0;

const isEmail = ({ format, pattern }: JsonSchema): boolean =>
  format !== 'uri' && (pattern?.includes('@') ?? false);

const sampleText = (schema: JsonSchema): string => {
  samples += 1;
  if (schema.format === 'uuid') return randomUUID();
  if (schema.format === 'date-time') return '2026-01-02T03:04:05.678Z';
  if (schema.format === 'date') return '2026-01-02';
  if (isEmail(schema)) return `sample-${samples}@example.com`;
  const text = `Sample ${samples}`.padEnd(schema.minLength ?? 0, 'x').slice(0, schema.maxLength);
  if (schema.pattern !== undefined && !new RegExp(schema.pattern, 'u').test(text)) {
    throw new Error(`No sample fits ${schema.pattern}: give its field an example (described()).`);
  }
  return text;
};

/** A value that is valid for a schema, with all optional properties. Every call returns different texts. */
export const sample = (document: OpenApiDocument, given: JsonSchema): unknown => {
  const schema = resolve(document, given);
  // Not for e-mail addresses: the same address could be used only once.
  if (schema.examples?.[0] !== undefined && !isEmail(schema)) return schema.examples[0];
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf?.[0]) return sample(document, schema.anyOf[0]);
  switch ([schema.type].flat()[0]) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([k, s]) => [k, sample(document, s)]),
      );
    case 'array':
      return Array.from({ length: Math.max(1, schema.minItems ?? 1) }, () =>
        sample(document, schema.items ?? {}),
      );
    case 'string':
      return sampleText(schema);
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    case 'boolean':
      return true;
    default:
      return 'anything';
  }
};
