import type { TextType } from '../types.ts';
import { MAX_TEXT } from '../words.ts';

/** The text of a file, or at least its first `MAX_TEXT` characters. Rejects if the file is damaged or encrypted. */
type Extract = (content: Buffer) => Promise<string>;

/** The encoding of a file that is not UTF-8 and has no byte order mark, like most old files of Windows. */
const LEGACY = 'windows-1252';

const encodingOf = ([first, second]: Buffer): string => {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
};

const decode = async (content: Buffer): Promise<string> => {
  const encoding = encodingOf(content);
  try {
    // The content may have been cut within a character.
    return new TextDecoder(encoding, { fatal: true }).decode(content, { stream: true });
  } catch {
    return new TextDecoder(encoding === 'utf-8' ? LEGACY : encoding).decode(content);
  }
};

/** A piece of the text of a page; marks have no text. */
interface PageItem {
  readonly str?: string;
  readonly hasEOL?: boolean;
}

const readPdf: Extract = async (content) => {
  const { getDocumentProxy } = await import('unpdf');
  const file = await getDocumentProxy(new Uint8Array(content), {
    isEvalSupported: false,
    disableFontFace: true,
    // A damaged page does not hide the others.
    stopAtErrors: false,
    verbosity: 0,
  });
  const pages: string[] = [];
  let length = 0;
  for (let number = 1; number <= file.numPages && length <= MAX_TEXT; number += 1) {
    const page = await file.getPage(number);
    const items: readonly PageItem[] = (await page.getTextContent()).items;
    const text = items.map(({ str = '', hasEOL }) => (hasEOL ? `${str}\n` : str)).join('');
    pages.push(text);
    length += text.length;
    page.cleanup();
  }
  return pages.join('\n');
};

const readDocx: Extract = async (content) => {
  const { default: mammoth } = await import('mammoth');
  const { value } = await mammoth.extractRawText({ buffer: content });
  return value;
};

/** How the text of each type is read. */
export const extractors: Readonly<Record<TextType, Extract>> = {
  'text/plain': decode,
  'text/markdown': decode,
  'text/csv': decode,
  'application/pdf': readPdf,
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': readDocx,
};
