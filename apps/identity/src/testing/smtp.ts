import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer } from 'smtp-server';

/** An SMTP server of our own, that takes mails for everybody, or refuses them. */
export interface SmtpServer {
  /** The setting `SMTP_URL`. */
  readonly url: string;
  readonly received: readonly Email[];
  /** Recipients as the envelope names them. */
  readonly recipients: readonly string[];
  /** How often a mail was refused. */
  readonly refusals: number;
  /** Refuses every mail from now on, with this answer; or none. */
  refuse(answer: { readonly code: number; readonly message: string } | null): void;
  stop(): Promise<void>;
}

export const startSmtp = async (): Promise<SmtpServer> => {
  const received: Email[] = [];
  const recipients: string[] = [];
  let refusal: { code: number; message: string } | null = null;
  let refusals = 0;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    onRcptTo({ address }, _session, answer) {
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
  return {
    url: `smtp://127.0.0.1:${(listening.address() as AddressInfo).port}`,
    received,
    recipients,
    get refusals() {
      return refusals;
    },
    refuse(answer) {
      refusal = answer;
    },
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
};
