import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer } from 'smtp-server';

/** What an SMTP server offers and requires. */
export interface SmtpOptions {
  /** Required from every client; without it, anybody may send. */
  readonly credentials?: { readonly username: string; readonly password: string };
  /** The certificate of the server, in PEM; without it, there is no TLS. */
  readonly tls?: {
    readonly key: string;
    readonly cert: string;
    /** Whether connections begin with TLS instead of STARTTLS. */
    readonly isImplicit?: boolean;
  };
}

/** An SMTP server that accepts mails for everybody, or refuses them. */
export interface SmtpServer {
  /** The setting `SMTP_URL`. */
  readonly url: string;
  readonly port: number;
  readonly received: readonly Email[];
  /** Recipients as the envelope names them. */
  readonly recipients: readonly string[];
  /** How often a mail was refused. */
  readonly refusals: number;
  /** Refuses every mail from now on, with this answer; or none. */
  refuse(answer: { readonly code: number; readonly message: string } | null): void;
  /** Leaves clients without an answer whose recipient is one of these. */
  hold(isHeld: (address: string) => boolean): void;
  stop(): Promise<void>;
}

export const startSmtp = async ({ credentials, tls }: SmtpOptions = {}): Promise<SmtpServer> => {
  const received: Email[] = [];
  const recipients: string[] = [];
  let refusal: { code: number; message: string } | null = null;
  let refusals = 0;
  let isHeld = (_address: string): boolean => false;
  const server = new SMTPServer({
    authOptional: credentials === undefined,
    disabledCommands: tls ? [] : ['STARTTLS'],
    ...(tls && { key: tls.key, cert: tls.cert, secure: tls.isImplicit === true }),
    // Credentials are also accepted without TLS.
    allowInsecureAuth: true,
    logger: false,
    onAuth({ username, password }, _session, answer) {
      const isKnown = username === credentials?.username && password === credentials?.password;
      answer(isKnown ? null : new Error('Invalid credentials'), { user: username });
    },
    onRcptTo({ address }, _session, answer) {
      if (isHeld(address)) return;
      if (!refusal) {
        recipients.push(address);
        return answer();
      }
      refusals += 1;
      const { code, message } = refusal;
      answer(Object.assign(new Error(`${message} <${address}>`), { responseCode: code }));
    },
    onData(stream, _session, answer) {
      buffer(stream)
        .then((raw) => PostalMime.parse(raw))
        .then((mail) => {
          received.push(mail);
          answer();
        }, answer);
    },
  });
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const { port } = listening.address() as AddressInfo;
  // A client that rejects the certificate ends the connection.
  server.on('error', () => undefined);
  return {
    url: `smtp://127.0.0.1:${port}`,
    port,
    received,
    recipients,
    get refusals() {
      return refusals;
    },
    refuse(answer) {
      refusal = answer;
    },
    hold(given) {
      isHeld = given;
    },
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
};
