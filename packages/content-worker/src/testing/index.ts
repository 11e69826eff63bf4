export { docxBomb, inflatingTo } from './bombs.ts';
export { docx, pdf, pdfPage } from './documents.ts';
