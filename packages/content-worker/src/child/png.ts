const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** The length, the type and the checksum of a chunk. */
const OVERHEAD = 12;

/** Usual files have one chunk for each 4 KiB or more; what follows is cut off, so that reading them never takes long. */
const MAX_CHUNKS = 50_000;

/** The chunks that say how a picture looks (PNG, third edition, sections 11.2 and 11.3), by their type as a number. */
const KEPT: ReadonlySet<number> = new Set(
  ['IHDR', 'PLTE', 'tRNS', 'gAMA', 'cHRM', 'sRGB', 'iCCP', 'eXIf', 'IDAT', 'IEND'].map((type) =>
    Buffer.from(type, 'latin1').readUInt32BE(),
  ),
);

/**
 * A PNG without texts and other chunks that do not change how it looks, in the same memory; other files as they are. The decoder
 * expands compressed texts while it reads the header: a file of 7 MB can contain several gigabytes of them.
 */
export const withoutTexts = (file: Buffer): Buffer => {
  if (!file.subarray(0, SIGNATURE.length).equals(SIGNATURE)) return file;
  let end = SIGNATURE.length;
  let at = end;
  for (let count = 0; count < MAX_CHUNKS && at + OVERHEAD <= file.length; count += 1) {
    const next = at + OVERHEAD + file.readUInt32BE(at);
    if (KEPT.has(file.readUInt32BE(at + 4))) {
      file.copyWithin(end, at, next);
      end += Math.min(next, file.length) - at;
    }
    at = next;
  }
  return file.subarray(0, end);
};
