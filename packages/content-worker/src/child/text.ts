import type { TextType } from '../types.ts';
import { MAX_TEXT } from '../words.ts';

/** The text of a file, or its beginning. */
export interface ExtractedText {
  readonly text: string;
  /** Whether there is more, which was not read. */
  readonly isCut: boolean;
}

/**
 * The text of a file, or at least its first `MAX_TEXT` characters, or what can be read within `cpuMs` milliseconds of
 * processor time, which do not depend on what else the machine does. Rejects if the file is damaged or encrypted.
 */
type Extract = (content: Buffer, cpuMs: number) => Promise<ExtractedText>;

/** The encoding of a file that is not UTF-8 and has no byte order mark, like most old files of Windows. */
const LEGACY = 'windows-1252';

const encodingOf = ([first, second]: Buffer): string => {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
};

const decoded = (content: Buffer): string => {
  const encoding = encodingOf(content);
  try {
    // The content may have been cut within a character.
    return new TextDecoder(encoding, { fatal: true }).decode(content, { stream: true });
  } catch {
    return new TextDecoder(encoding === 'utf-8' ? LEGACY : encoding).decode(content);
  }
};

const decode: Extract = async (content) => ({ text: decoded(content), isCut: false });

/** The pages of a PDF that are read: to find one takes the longer, the more pages there are before it. */
const MAX_PAGES = 2000;

/** The processor time that this process has used, in milliseconds. */
const usedCpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** A piece of the text of a page; marks have no text. */
interface PageItem {
  readonly str?: string;
  readonly hasEOL?: boolean;
}

const readPdf: Extract = async (content, cpuMs) => {
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
  const isDone = (): boolean => length > MAX_TEXT || usedCpuMs() > cpuMs;
  let number = 1;
  for (; number <= Math.min(file.numPages, MAX_PAGES) && !isDone(); number += 1) {
    const page = await file.getPage(number);
    const items: readonly PageItem[] = (await page.getTextContent()).items;
    const text = items.map(({ str = '', hasEOL }) => (hasEOL ? `${str}\n` : str)).join('');
    pages.push(text);
    length += text.length;
    page.cleanup();
  }
  return { text: pages.join('\n'), isCut: number <= file.numPages };
};

const readDocx: Extract = async (content) => {
  const { default: mammoth } = await import('mammoth');
  const { value } = await mammoth.extractRawText({ buffer: content });
  return { text: value, isCut: false };
};

/** How the text of each type is read. */
export const extractors: Readonly<Record<TextType, Extract>> = {
  'text/plain': decode,
  'text/markdown': decode,
  'text/csv': decode,
  'application/pdf': readPdf,
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': readDocx,
};
