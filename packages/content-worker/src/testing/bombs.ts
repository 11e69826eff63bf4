import { constants, deflateRawSync } from 'node:zlib';

const MEBIBYTE = 1024 * 1024;

/** Compressed data to which more can be appended. */
const compressed = (content: Buffer): Buffer =>
  deflateRawSync(content, { finishFlush: constants.Z_FULL_FLUSH });

/** A raw deflate stream of `mebibytes` of a repeated text. Its pieces are compressed once. */
const repeated = (mebibytes: number, text: string): Buffer => {
  const pieces = mebibytes / 10;
  const piece = compressed(Buffer.alloc(10 * MEBIBYTE, text));
  return Buffer.concat([
    ...Array.from({ length: pieces }, () => piece),
    deflateRawSync(Buffer.alloc(0)),
  ]);
};

/** The stream of a FlateDecode filter that inflates to this many mebibytes, a multiple of 10. */
export const inflatingTo = (mebibytes: number, text = ' '): Buffer =>
  Buffer.concat([Buffer.from([0x78, 0x9c]), repeated(mebibytes, text)]);

interface Entry {
  readonly name: string;
  readonly content: Buffer;
  readonly size: number;
}

/** The fields of an entry that both of its headers have, from the version to the length of extra fields. */
const fieldsOf = ({ name, content, size }: Entry): Buffer => {
  const fields = Buffer.alloc(26);
  fields.writeUInt16LE(20, 0);
  // Compressed by deflate.
  fields.writeUInt16LE(8, 4);
  fields.writeUInt32LE(content.length, 14);
  fields.writeUInt32LE(size, 18);
  fields.writeUInt16LE(name.length, 22);
  return fields;
};

/** A Word file whose only document inflates to this many mebibytes, a multiple of 10. */
export const docxBomb = (mebibytes: number): Buffer => {
  const entry = {
    name: 'word/document.xml',
    content: repeated(mebibytes, ' '),
    size: mebibytes * MEBIBYTE,
  };
  const fields = fieldsOf(entry);
  const name = Buffer.from(entry.name);
  const local = Buffer.concat([Buffer.from('PK\u0003\u0004'), fields, name, entry.content]);
  const central = Buffer.concat([
    Buffer.from('PK\u0001\u0002\u0014\u0000'),
    fields,
    Buffer.alloc(14),
    name,
  ]);
  const end = Buffer.alloc(22);
  end.write('PK\u0005\u0006');
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(local.length, 16);
  return Buffer.concat([local, central, end]);
};
