import type { Readable, Writable } from 'node:stream';
import { Busboy, type BusboyHeaders } from '@fastify/busboy';
import {
  type Field,
  type FieldErrors,
  readTexts,
  type Shape,
  shortName,
  validate,
} from '@tessera/fields';
import type { Request } from 'express';
import { malformedUpload } from '../body.ts';
import { invalidField, validationFailed } from '../http-error.ts';
import { mediaTypeOf } from './content-type.ts';
import { cutName } from './cut-name.ts';

/** The name of the part that holds the file. */
const FILE = 'file';

/** The part of a form before the content of its file. */
export interface Form {
  readonly fields: unknown;
  readonly name: string | null;
  /** The media type that the client declared for the file. */
  readonly type: string;
}

/** The longest name of a file, in characters. */
const MAX_NAME = 255;

/** The most bytes of a character, in UTF-8 and in the other encodings that a form may have. */
const BYTES_OF_CHARACTER = 4;

/** The characters of a field that declares no longest text, such as a number or a UUID. */
const MAX_OTHER = 200;

/** How many fields a form may have besides those that are declared, so that the error can name them. */
const MORE_FIELDS = 20;

/** One character more than the field may have, so that a text that is cut off is still reported as too long. */
const bytesOf = ({ json: { maxLength } }: Field): number =>
  BYTES_OF_CHARACTER * ((typeof maxLength === 'number' ? maxLength : MAX_OTHER) + 1);

/** How many bytes the texts of a form may have together. */
export const textBytesOf = ({ fields }: Shape): number =>
  Object.values(fields).reduce((sum, field) => sum + bytesOf(field), 0);

/** The name of a file as it can be stored; null if there is none. */
const nameOf = (given: string): string | null => {
  // Browsers escape a quotation mark in this way (WHATWG HTML, multipart form data), and no percent sign.
  const name = cutName(given.replaceAll('%22', '"').replaceAll('\0', ''), MAX_NAME);
  return name === '' ? null : name;
};

/** The fields of a form as it was sent. */
interface SentFields {
  readonly texts: Map<string, string[]>;
  /** The names of those that have more bytes than any may have. */
  readonly cut: Set<string>;
}

const checkedFields = (shape: Shape, { texts, cut }: SentFields): unknown => {
  const errors: FieldErrors = Object.create(null);
  for (const [name, { length }] of texts) {
    if (length > 1) errors[name] = [`${name} must be given once`];
  }
  const once = Object.fromEntries([...texts].map(([name, [text]]) => [name, text]));
  const result = validate(shape, readTexts(shape, once), 'form');
  if (!result.ok) Object.assign(errors, result.errors);
  for (const name of cut) errors[name] ??= [`${name} is too long`];
  if (Object.keys(errors).length > 0) throw validationFailed(errors);
  return result.ok ? result.value : undefined;
};

const parserOf = (req: Request, { fields }: Shape) => {
  const declared = Object.values(fields);
  try {
    return new Busboy({
      headers: req.headers as BusboyHeaders,
      limits: {
        fields: declared.length + MORE_FIELDS,
        fieldSize: Math.max(0, ...declared.map(bytesOf)),
        fieldNameSize: 200,
        files: 1,
        headerPairs: 20,
      },
      isPartAFile: (_name, _type, fileName) => fileName !== undefined,
    });
  } catch {
    throw malformedUpload();
  }
};

/**
 * Reads a form (RFC 7578) up to its file, pipes the file to `destination`, and checks the fields. The file must
 * be the last part, because the handler gets the fields before it. Errors: 422 names the field; 400 for a
 * malformed form.
 */
export const readForm = (
  req: Request,
  destination: Writable & Readable,
  shape: Shape,
): Promise<Form> =>
  new Promise((resolve, reject) => {
    const parser = parserOf(req, shape);
    const sent: SentFields = { texts: new Map(), cut: new Set() };
    let hasFile = false;
    const fail = (error: Error): void => {
      req.unpipe(parser);
      destination.destroy(error);
      reject(error);
    };
    parser.on('field', (name: string | undefined, value, isNameCut, isCut) => {
      // The parser declares that every part has a name, which RFC 7578 requires but clients may omit.
      if (name === undefined) return fail(malformedUpload());
      if (hasFile) return fail(invalidField(shortName(name), 'must come before the file'));
      if (isNameCut) return fail(invalidField(shortName(name), 'is too long'));
      sent.texts.set(name, [...(sent.texts.get(name) ?? []), value]);
      if (isCut) sent.cut.add(shortName(name));
    });
    parser.on('file', (part: string | undefined, content, name, _encoding, type) => {
      content.on('error', fail);
      if (part !== FILE) {
        content.resume();
        if (part === undefined) return fail(malformedUpload());
        return fail(invalidField(shortName(part), `the file must be called "${FILE}"`));
      }
      hasFile = true;
      // `destination` ends only after the whole form was read, since a later part can still be rejected.
      content.pipe(destination, { end: false });
      try {
        const fields = checkedFields(shape, sent);
        resolve({ fields, name: nameOf(name), type: mediaTypeOf(type) });
      } catch (error) {
        fail(error as Error);
      }
    });
    parser.on('fieldsLimit', () => fail(invalidField('form', 'form has too many fields')));
    parser.on('filesLimit', () => fail(invalidField(FILE, `${FILE} must be given once`)));
    parser.on('error', () => fail(malformedUpload()));
    parser.on('finish', () => {
      if (hasFile) destination.end();
      else fail(invalidField(FILE, `${FILE} is required`));
    });
    destination.once('error', reject);
    destination.once('close', () => {
      req.unpipe(parser);
      parser.destroy();
    });
    req.pipe(parser);
  });
