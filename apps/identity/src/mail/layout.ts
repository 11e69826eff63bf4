import { escaped } from '../http/html.ts';
import type { MailText } from './texts/texts.ts';

/** The content of a mail in one language. */
export interface Page {
  /** Name of the sender. */
  readonly brand: string;
  readonly language: string;
  readonly text: MailText;
  /** Null if there is no link. */
  readonly link: string | null;
  readonly copyTheAddress: string;
  readonly whyThisMail: string;
}

/** User-provided text cannot start a new line. */
const onOneLine = (text: string): string => text.replace(/\s+/g, ' ');

/** The plain text version. */
export const plainText = ({ brand, text, link, whyThisMail }: Page): string =>
  [
    ...[text.greeting, ...text.paragraphs].map(onOneLine),
    ...(link === null ? [] : [`${text.action}:\n${link}`]),
    ...text.notes.map(onOneLine),
    `-- \n${onOneLine(brand)}\n${whyThisMail}`,
    '',
  ].join('\n\n');

const FONT = "font-family: -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif;";

const paragraph = (text: string, style: string): string =>
  `<p style="margin: 0 0 16px; ${style}">${escaped(text)}</p>`;

const button = ({ text: { action }, link }: Page): string =>
  link === null || action === undefined
    ? ''
    : `<table role="presentation" cellpadding="0" cellspacing="0" style="margin: 24px 0;">
<tr><td style="background: #1d4ed8; border-radius: 6px;">
<a href="${escaped(link)}" style="display: inline-block; padding: 12px 24px; ${FONT} font-size: 16px; font-weight: 600; color: #ffffff; text-decoration: none;">${escaped(action)}</a>
</td></tr>
</table>`;

/** For mail clients that do not show buttons. */
const addressOfButton = ({ link, copyTheAddress }: Page): string => {
  if (link === null) return '';
  const href = escaped(link);
  return `<p class="faint" style="margin: 24px 0 0; font-size: 12px; line-height: 18px; color: #4b5563;">${escaped(copyTheAddress)}<br>
<a href="${href}" class="link" style="color: #1d4ed8; word-break: break-all;">${href}</a></p>`;
};

/**
 * The HTML version. Mail clients support tables and inline styles, but no scripts, style sheets or external
 * images; some support dark colours from a style element in the head.
 */
export const htmlPage = (page: Page): string => {
  const { brand, language, text, whyThisMail } = page;
  const body = [text.greeting, ...text.paragraphs].map((line) =>
    paragraph(line, 'font-size: 16px; line-height: 24px;'),
  );
  const notes = text.notes.map((line) => paragraph(line, 'font-size: 14px; line-height: 20px;'));
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${escaped(text.subject)}</title>
<style>
@media (prefers-color-scheme: dark) {
  .page { background: #14161a !important; }
  .card { background: #1f2329 !important; color: #e8eaed !important; }
  .faint { color: #9aa3af !important; }
  .link { color: #8ab4f8 !important; }
}
</style>
</head>
<body class="page" style="margin: 0; padding: 0; background: #f3f4f6;">
<table role="presentation" class="page" width="100%" cellpadding="0" cellspacing="0" style="background: #f3f4f6;">
<tr><td align="center" style="padding: 32px 16px;">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width: 560px; text-align: left;">
<tr><td class="faint" style="padding: 0 4px 12px; ${FONT} font-size: 14px; font-weight: 600; color: #4b5563;">${escaped(brand)}</td></tr>
<tr><td class="card" style="padding: 32px; background: #ffffff; color: #111827; border-radius: 8px; ${FONT}">
<h1 style="margin: 0 0 20px; font-size: 20px; line-height: 28px; font-weight: 600;">${escaped(text.subject)}</h1>
${body.join('\n')}
${button(page)}
${notes.join('\n')}
${addressOfButton(page)}
</td></tr>
<tr><td class="faint" style="padding: 16px 4px 0; ${FONT} font-size: 12px; line-height: 18px; color: #4b5563;">${escaped(whyThisMail)}</td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`;
};
