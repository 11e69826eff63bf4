export { docxBomb, inflatingTo } from './bombs.ts';
export { docx, pdf, pdfPage, pdfWithEmptyPages } from './documents.ts';
