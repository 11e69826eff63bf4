import { deflateSync } from 'node:zlib';
import JSZip from 'jszip';

const TYPES = `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`;
const RELATIONS = `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`;

const OPENING =
  '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>';
const paragraph = (text: string): string => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;

/** A Word file with these paragraphs, and further entries in its archive. */
export const docx = (
  paragraphs: readonly string[],
  entries: Readonly<Record<string, string>> = {},
): Promise<Buffer> => {
  const zip = new JSZip();
  zip.file('[Content_Types].xml', TYPES);
  zip.file('_rels/.rels', RELATIONS);
  const body = paragraphs.map(paragraph).join('');
  zip.file('word/document.xml', `${OPENING}${body}</w:body></w:document>`);
  for (const [name, content] of Object.entries(entries)) zip.file(name, content);
  return zip.generateAsync({ type: 'nodebuffer', compression: 'DEFLATE' });
};

/** An object of a PDF: its dictionary, and its stream if it has one. */
interface PdfObject {
  readonly dictionary: string;
  readonly stream?: Buffer;
}

const written = ({ dictionary, stream }: PdfObject, number: number): Buffer => {
  if (!stream) return Buffer.from(`${number} 0 obj\n<< ${dictionary} >>\nendobj\n`);
  const head = `${number} 0 obj\n<< ${dictionary} /Length ${stream.length} >>\nstream\n`;
  return Buffer.concat([Buffer.from(head), stream, Buffer.from('\nendstream\nendobj\n')]);
};

/** A PDF of these objects, the first of which is the catalogue. */
const pdfOf = (objects: readonly PdfObject[], trailer: string): Buffer => {
  const parts: Buffer[] = [Buffer.from('%PDF-1.7\n')];
  let length = parts[0]?.length ?? 0;
  const entries: string[] = [];
  for (const [index, object] of objects.entries()) {
    const part = written(object, index + 1);
    entries.push(`${String(length).padStart(10, '0')} 00000 n \n`);
    parts.push(part);
    length += part.length;
  }
  const size = objects.length + 1;
  const table = `0000000000 65535 f \n${entries.join('')}`;
  const end = `xref\n0 ${size}\n${table}trailer\n<< /Size ${size} /Root 1 0 R ${trailer} >>\nstartxref\n${length}\n%%EOF\n`;
  return Buffer.concat([...parts, Buffer.from(end)]);
};

const CATALOGUE: PdfObject = { dictionary: '/Type /Catalog /Pages 2 0 R' };
const FONT: PdfObject = { dictionary: '/Type /Font /Subtype /Type1 /BaseFont /Helvetica' };
const PAGE = '/Type /Page /Parent 2 0 R /MediaBox [0 0 600 800]';

/** A PDF with one page that has this content stream. */
export const pdfPage = (
  content: PdfObject,
  trailer = '',
  others: readonly PdfObject[] = [],
): Buffer =>
  pdfOf(
    [
      CATALOGUE,
      { dictionary: '/Type /Pages /Kids [3 0 R] /Count 1' },
      { dictionary: `${PAGE} /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >>` },
      content,
      FONT,
      ...others,
    ],
    trailer,
  );

/** A PDF whose first page shows the text, followed by this many empty pages. */
export const pdfWithEmptyPages = (text: string, pages: number): Buffer => {
  const kids = [3, ...Array.from({ length: pages }, (_, index) => index + 6)];
  return pdfOf(
    [
      CATALOGUE,
      {
        dictionary: `/Type /Pages /Kids [${kids.map((id) => `${id} 0 R`).join(' ')}] /Count ${kids.length}`,
      },
      { dictionary: `${PAGE} /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >>` },
      { dictionary: '', stream: Buffer.from(`BT /F1 12 Tf 50 700 Td (${text}) Tj ET`) },
      FONT,
      ...Array.from({ length: pages }, () => ({ dictionary: PAGE })),
    ],
    '',
  );
};

/** A PDF whose page shows the text. */
export const pdf = (text: string): Buffer =>
  pdfPage({
    dictionary: '/Filter /FlateDecode',
    stream: deflateSync(Buffer.from(`BT /F1 12 Tf 50 700 Td (${text}) Tj ET`)),
  });
