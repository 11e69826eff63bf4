import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { PublicTcp } from '@tessera/outbound-http';
import type { createTransport } from 'nodemailer';
import { connectionFailure, DeliveryFailed, type DeliveryStep } from './delivery-failed.ts';

/** How mails are sent: the settings of an email account, with its credentials. */
export interface SmtpAccount {
  readonly host: string;
  readonly port: number;
  /** `starttls` and `tls` require a valid certificate; `none` sends everything in clear text. */
  readonly security: 'starttls' | 'tls' | 'none';
  readonly from_address: string;
  readonly from_name: string | null;
  readonly credentials: { readonly username: string; readonly password: string } | null;
}

export interface Mail {
  /** One address. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
}

/** Sends mails through the SMTP servers of accounts, which are reached at public addresses only. */
export interface Smtp {
  /** Returns the Message-ID of a mail that the server has accepted. Throws a `DeliveryFailed`. */
  send(account: SmtpAccount, mail: Mail): Promise<{ readonly messageId: string }>;
}

export interface SmtpOptions {
  readonly tcp: Pick<PublicTcp, 'connect'>;
  /** Certificates of authorities to trust instead of those of Node, in PEM. */
  readonly ca?: string;
  /** The limit for a whole delivery, in milliseconds. */
  readonly timeoutMs?: number;
}

/** Prevents automatic replies (RFC 3834). */
const headers = { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' };

const CONNECT_TIMEOUT_MS = 10_000;
const TIMEOUT_MS = 15_000;
const MAX_REPLY = 64 * 1024;

/** The properties of nodemailer's errors that say what failed. */
interface SmtpError {
  readonly code?: string;
  readonly command?: string;
  readonly syscall?: string;
  readonly response?: string;
  readonly responseCode?: number;
}

const stepOf = ({ code, command, syscall }: SmtpError): DeliveryStep => {
  if (code === 'EAUTH') return 'authentication';
  if (code === 'EENVELOPE' && command === 'MAIL FROM') return 'sender';
  if (code === 'EENVELOPE' && command === 'RCPT TO') return 'recipient';
  if (code === 'EENVELOPE' || code === 'EMESSAGE') return 'message';
  // Only a TLS error of a socket is no error of a system call, such as ECONNRESET.
  if (code === 'ETLS' || (code === 'ESOCKET' && syscall === undefined)) return 'tls';
  return 'connection';
};

const failureOf = (cause: unknown): DeliveryFailed => {
  const error = cause as SmtpError;
  const { response, responseCode: code } = error;
  const detail = /\b[245]\.\d{1,3}\.\d{1,3}\b/.exec(response ?? '')?.[0];
  const step = stepOf(error);
  const isTemporary = code === undefined ? step === 'connection' : code < 500;
  return new DeliveryFailed(step, { isTemporary, code, detail });
};

export const createSmtp = ({ tcp, ca, timeoutMs = TIMEOUT_MS }: SmtpOptions): Smtp => {
  const transportOf = (
    create: typeof createTransport,
    account: SmtpAccount,
    connection: Socket,
  ) => {
    const { host, port, security, credentials } = account;
    return create({
      host,
      port,
      // The address of this connection was checked.
      getSocket: (_options, done) => done(null, { connection }),
      secure: security === 'tls',
      requireTLS: security === 'starttls',
      ignoreTLS: security === 'none',
      tls: { minVersion: 'TLSv1.2', ...(ca !== undefined && { ca }) },
      // Never sends a mail without them because the server does not ask for any.
      ...(credentials && {
        auth: { user: credentials.username, pass: credentials.password },
        forceAuth: true,
      }),
      connectionTimeout: CONNECT_TIMEOUT_MS,
      greetingTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: CONNECT_TIMEOUT_MS,
      maxResponseSize: MAX_REPLY,
      // Message parts are always text, never file names or URLs.
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  };

  return {
    async send(account, { to, subject, text, html }) {
      const { host, port, from_address: from, from_name: name } = account;
      // Loaded with the first mail: it takes several megabytes, and not every process sends mails.
      const { createTransport: create } = await import('nodemailer');
      const signal = AbortSignal.timeout(timeoutMs);
      const connection = await tcp
        .connect({ host, port, timeoutMs: CONNECT_TIMEOUT_MS })
        .catch((error: unknown) => {
          throw connectionFailure(error);
        });
      const messageId = `<${randomUUID()}@${from.slice(from.lastIndexOf('@') + 1)}>`;
      try {
        await transportOf(create, account, connection).sendMail({
          from: { name: name ?? '', address: from },
          // As an object, so that the address is not parsed as a list.
          to: { name: '', address: to },
          subject,
          text,
          ...(html !== undefined && { html }),
          headers,
          messageId,
          signal,
        });
        return { messageId };
      } catch (error) {
        throw failureOf(error);
      } finally {
        connection.destroy();
      }
    },
  };
};
