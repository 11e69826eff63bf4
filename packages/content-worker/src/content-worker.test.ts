import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { Readable } from 'node:stream';
import JSZip from 'jszip';
import sharp from 'sharp';
import { runConfined } from './confined-process.ts';
import { createContentWorker, type TextType, UnreadableContent, WorkerEnded } from './index.ts';
import { docxBomb, inflatingTo } from './testing/bombs.ts';
import { docx, pdf, pdfPage, pdfWithEmptyPages } from './testing/documents.ts';

const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
const MEBIBYTE = 1024 * 1024;
// Longer than the default, which a busy machine may need to start a process, and with room for the compiler of sources.
const worker = createContentWorker({ seconds: 150, memoryBytes: 300 * MEBIBYTE });

const wordsIn = async (content: Buffer, type: TextType, of = worker) =>
  (await of.words(Readable.from([content]), type)).words;

describe('The words of a file are found in', () => {
  const text = 'Árajánlat: 42 Stück, Größe "XL"; ügyfél@példa.hu';
  const words = ['árajánlat', '42', 'stück', 'größe', 'xl', 'ügyfél', 'példa', 'hu'];
  const utf16 = Buffer.from(`\ufeff${text}`, 'utf16le');
  test.each<[string, Buffer, TextType]>([
    ['UTF-8', Buffer.from(text), 'text/plain'],
    ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${text}`), 'text/csv'],
    ['UTF-16, little endian', utf16, 'text/markdown'],
    ['UTF-16, big endian', Buffer.from(utf16).swap16(), 'text/plain'],
    ['Windows-1252', Buffer.from(text, 'latin1'), 'text/plain'],
  ])('%s', async (_, content, type) => {
    expect(await wordsIn(content, type)).toEqual(words);
  });

  test('a PDF', async () => {
    expect(await wordsIn(pdf('Offer for Ada Lovelace'), 'application/pdf')).toEqual([
      'offer',
      'for',
      'ada',
      'lovelace',
    ]);
  });

  test('a Word file, whose other entries are not written anywhere', async () => {
    const before = await readdir(tmpdir());
    const escaping = { '../../escaped.txt': 'x', '/tmp/escaped.txt': 'x', 'C:\\escaped.txt': 'x' };
    expect(await wordsIn(await docx(['Ajánlat', 'második bekezdés'], escaping), DOCX)).toEqual([
      'ajánlat',
      'második',
      'bekezdés',
    ]);
    const added = (await readdir(tmpdir())).filter((name) => !before.includes(name));
    expect(added.filter((name) => name.includes('escaped'))).toEqual([]);
  });
});

test('A thumbnail is a small upright WebP without metadata', async () => {
  const photo = await sharp({
    create: { width: 1600, height: 800, channels: 3, background: 'red' },
  })
    .jpeg()
    .withMetadata({ orientation: 6 })
    .toBuffer();
  const thumbnail = await worker.thumbnail(Readable.from([photo]), 'image/jpeg');
  const { format, width, height, exif } = await sharp(thumbnail).metadata();
  expect({ format, width, height, exif }).toEqual({
    format: 'webp',
    width: 256,
    height: 512,
    exif: undefined,
  });
});

test.each(['png', 'webp', 'gif', 'avif'] as const)('Thumbnails are made of %s', async (format) => {
  const image = await sharp({ create: { width: 40, height: 20, channels: 4, background: 'teal' } })
    .toFormat(format)
    .toBuffer();
  const thumbnail = await worker.thumbnail(Readable.from([image]), `image/${format}`);
  expect(await sharp(thumbnail).metadata()).toMatchObject({
    format: 'webp',
    width: 40,
    height: 20,
  });
});

describe('A file that cannot be read is refused:', () => {
  const encrypted = pdfPage(
    { dictionary: '', stream: Buffer.from('BT (secret) Tj ET') },
    '/Encrypt 6 0 R /ID [<00000000000000000000000000000000> <00000000000000000000000000000000>]',
    [
      {
        dictionary: `/Filter /Standard /V 1 /R 2 /P -4 /O <${'11'.repeat(32)}> /U <${'22'.repeat(32)}>`,
      },
    ],
  );
  test.each<[string, () => Promise<Buffer> | Buffer, TextType]>([
    ['an encrypted PDF', () => encrypted, 'application/pdf'],
    ['a PDF that is not one', () => Buffer.from('%PDF-1.7 no'), 'application/pdf'],
    ['an empty PDF', () => Buffer.alloc(0), 'application/pdf'],
    ['half of a Word file', async () => (await docx(['x'])).subarray(0, 200), DOCX],
    [
      'an archive that is no Word file',
      () => new JSZip().generateAsync({ type: 'nodebuffer' }),
      DOCX,
    ],
  ])('%s', async (_, content, type) => {
    await expect(wordsIn(await content(), type)).rejects.toThrow(UnreadableContent);
  });

  test('an SVG that is declared as a PNG', async () => {
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>');
    await expect(worker.thumbnail(Readable.from([svg]), 'image/png')).rejects.toThrow(
      UnreadableContent,
    );
  });

  test('an image with too many pixels', async () => {
    const size = { width: 8000, height: 8000 };
    const bomb = await sharp({ create: { ...size, channels: 3, background: 'red' } })
      .png({ compressionLevel: 1 })
      .toBuffer();
    await expect(worker.thumbnail(Readable.from([bomb]), 'image/png')).rejects.toThrow(
      UnreadableContent,
    );
  });
});

test('Of a PDF with very many pages, the words of the first ones are found', async () => {
  const large = pdfWithEmptyPages('heron', 60_000);
  const shorter = createContentWorker({ seconds: 120 });
  const { words, truncated } = await shorter.words(Readable.from([large]), 'application/pdf');
  expect({ words, truncated }).toEqual({ words: ['heron'], truncated: true });
});

test('The words of a PDF are found that is almost as large as a file may be', async () => {
  const images = { dictionary: '', stream: randomBytes(62 * MEBIBYTE) };
  const content = { dictionary: '', stream: Buffer.from('BT /F1 12 Tf 50 700 Td (heron) Tj ET') };
  expect(await wordsIn(pdfPage(content, '', [images]), 'application/pdf')).toEqual(['heron']);
});

describe('A process is killed, and the next file is read, after', () => {
  afterEach(async () => {
    expect(await wordsIn(Buffer.from('still here'), 'text/plain')).toEqual(['still', 'here']);
  });

  test('a Word file that unpacks to gigabytes', async () => {
    const bomb = docxBomb(3000);
    expect(bomb.length).toBeLessThan(32 * MEBIBYTE);
    await expect(wordsIn(bomb, DOCX)).rejects.toThrow(WorkerEnded);
  });

  test('a PDF whose page unpacks to gigabytes', async () => {
    const bomb = pdfPage({ dictionary: '/Filter /FlateDecode', stream: inflatingTo(3000) });
    expect(bomb.length).toBeLessThan(32 * MEBIBYTE);
    await expect(wordsIn(bomb, 'application/pdf')).rejects.toThrow(WorkerEnded);
  });

  test('a PDF that keeps its reader busy', async () => {
    // It takes no memory to read these operators, but long.
    const bomb = pdfPage({
      dictionary: '/Filter /FlateDecode',
      stream: inflatingTo(400, 'BT ET '),
    });
    const short = createContentWorker({ seconds: 20, memoryBytes: 2 ** 40 });
    await expect(wordsIn(bomb, 'application/pdf', short)).rejects.toThrow(WorkerEnded);
  });

  test('a file that needs more memory than there is', async () => {
    const small = createContentWorker({ memoryBytes: 150 * MEBIBYTE });
    const large = Buffer.alloc(300 * MEBIBYTE, 'a b ');
    await expect(wordsIn(large, 'text/plain', small)).rejects.toThrow(WorkerEnded);
  });

  test('a stream that is cut off', async () => {
    const cut = new Readable({ read: () => undefined });
    cut.push('half');
    setImmediate(() => cut.destroy());
    await expect(worker.words(cut, 'text/plain')).rejects.toThrow('Premature close');
  });

  test('a stream that fails', async () => {
    const failing = Readable.from(
      (async function* () {
        yield Buffer.from('half');
        throw new Error('The store does not answer.');
      })(),
    );
    await expect(worker.words(failing, 'text/plain')).rejects.toThrow('The store does not answer.');
  });
});

test('A process that reads a file has an empty environment and connects to nothing', async () => {
  const limits = { seconds: 30, memoryBytes: 2 ** 30, resultBytes: MEBIBYTE };
  const { result } = await runConfined('testing/inspection', [], Readable.from([]), limits);
  const refusal = 'Error: This process does not use the network.';
  expect(JSON.parse(result.toString())).toEqual({
    environment: {},
    connection: refusal,
    fetched: refusal,
  });
});
