import { once } from 'node:events';
import { crc32, createDeflate, deflateSync } from 'node:zlib';

const chunk = (type: string, data: Buffer): Buffer => {
  const content = Buffer.concat([Buffer.from(type), data]);
  const framed = Buffer.alloc(content.length + 8);
  framed.writeUInt32BE(data.length, 0);
  content.copy(framed, 4);
  framed.writeUInt32BE(crc32(content), content.length + 4);
  return framed;
};

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const RGBA = 6;

const header = (
  side: number,
  { depth, isInterlaced }: { depth: number; isInterlaced: boolean },
) => {
  const data = Buffer.alloc(13);
  data.writeUInt32BE(side, 0);
  data.writeUInt32BE(side, 4);
  data.set([depth, RGBA, 0, 0, isInterlaced ? 1 : 0], 8);
  return chunk('IHDR', data);
};

/** The passes of Adam7: first column and row, and steps. */
const PASSES = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

const interlacedBytes = (side: number, bytesPerPixel: number): number =>
  PASSES.reduce((sum, [x, y, dx, dy]) => {
    const [columns, rows] = [Math.ceil((side - x) / dx), Math.ceil((side - y) / dy)];
    return sum + (columns > 0 && rows > 0 ? rows * (1 + columns * bytesPerPixel) : 0);
  }, 0);

/** Zeros, compressed, without having them all in memory. */
const compressedZeros = async (bytes: number): Promise<Buffer> => {
  const deflate = createDeflate({ level: 9 });
  const compressed: Buffer[] = [];
  deflate.on('data', (part: Buffer) => compressed.push(part));
  const zeros = Buffer.alloc(1024 * 1024);
  for (let left = bytes; left > 0; left -= zeros.length) {
    if (!deflate.write(zeros.subarray(0, Math.min(left, zeros.length))))
      await once(deflate, 'drain');
  }
  deflate.end();
  await once(deflate, 'end');
  return Buffer.concat(compressed);
};

/** A PNG of 7071 × 7071 pixels with 16 bits per channel, interlaced: 400 KB that become 400 MB. */
export const worstPicture = async (side = 7071): Promise<Buffer> =>
  Buffer.concat([
    SIGNATURE,
    header(side, { depth: 16, isInterlaced: true }),
    chunk('IDAT', await compressedZeros(interlacedBytes(side, 8))),
    chunk('IEND', Buffer.alloc(0)),
  ]);

/** A small PNG; `seed` makes its content, and so its thumbnail, another one. */
export const smallPicture = (seed: number): Buffer => {
  const side = 64;
  const rows = Buffer.alloc(side * (1 + side * 4), 200);
  for (let row = 0; row < side; row += 1) rows[row * (1 + side * 4)] = 0;
  rows.writeUInt32BE(seed, 1);
  return Buffer.concat([
    SIGNATURE,
    header(side, { depth: 8, isInterlaced: false }),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
};

/** A PDF of this many empty pages; `seed` makes its content another one. */
export const emptyPages = (pages: number, seed: number): Buffer => {
  const parts: string[] = [`%PDF-1.4\n%${seed}\n`];
  const offsets: number[] = [];
  let { length } = parts[0] as string;
  const object = (number: number, content: string): void => {
    const text = `${number} 0 obj\n${content}\nendobj\n`;
    offsets.push(length);
    length += text.length;
    parts.push(text);
  };
  const kids = Array.from({ length: pages }, (_, at) => `${at + 3} 0 R`).join(' ');
  object(1, '<< /Type /Catalog /Pages 2 0 R >>');
  object(2, `<< /Type /Pages /Count ${pages} /Kids [${kids}] >>`);
  for (let page = 0; page < pages; page += 1) {
    object(page + 3, '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << >> >>');
  }
  const entries = offsets.map((offset) => `${`${offset}`.padStart(10, '0')} 00000 n \n`).join('');
  parts.push(
    `xref\n0 ${pages + 3}\n0000000000 65535 f \n${entries}trailer\n<< /Size ${pages + 3} /Root 1 0 R >>\nstartxref\n${length}\n%%EOF\n`,
  );
  return Buffer.from(parts.join(''));
};
