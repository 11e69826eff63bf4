import { described, matching, type OutOf, optional, rawText } from '@tessera/fields';

export const mailVariables = {
  SMTP_URL: described(
    optional(matching(/^smtps?:\/\/\S+$/, 'an smtp:// or smtps:// URL', 1000)),
    'SMTP server, including user and password. Without it, mails stay queued or are written to MAIL_DIRECTORY.',
  ),
  MAIL_FROM: described(
    optional(
      matching(/^[^<>\r\n]*<?[^\s<>@]+@[^\s<>@]+>?$/, 'an address, with or without a name', 300),
    ),
    'Sender of mails, such as `Example <no-reply@example.com>`; required with SMTP_URL.',
  ),
  MAIL_DIRECTORY: described(
    optional(rawText(1000)),
    'Without SMTP_URL: directory that mails, including their links, are written to. For development.',
  ),
} as const;

const smtpOf = (url: string | undefined, from: string | undefined) => {
  if (url === undefined) return undefined;
  if (from === undefined)
    throw new Error('The configuration lacks MAIL_FROM, which SMTP_URL needs.');
  return { url, from };
};

/** Throws where `SMTP_URL` is set without `MAIL_FROM`. */
export const mailSettings = (read: OutOf<typeof mailVariables>) => ({
  mail: { smtp: smtpOf(read.SMTP_URL, read.MAIL_FROM), directory: read.MAIL_DIRECTORY },
});
