import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type SmtpServer, startSmtp } from '@tessera/local-stack';

/** A request that the SMS provider received. */
export interface SmsRequest {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly authorization: string | undefined;
  readonly type: string | undefined;
  readonly form: Readonly<Record<string, string>>;
}

/** A mail server and a server with the format of Twilio, both of our own. */
export interface MessagingServers {
  /** The settings of CRM with which it reaches them. */
  readonly environment: Readonly<Record<string, string>>;
  readonly smtp: SmtpServer;
  readonly smsRequests: readonly SmsRequest[];
  /** How the SMS provider answers from now on; null: it accepts every message. */
  answerSms(answer: { readonly status: number; readonly body: object } | null): void;
  /** A new account of these servers, with a name of its own. */
  account(channel: 'email' | 'sms'): Record<string, unknown>;
  stop(): Promise<void>;
}

export const SMTP_CREDENTIALS = { username: 'acme', password: 'a-secret-password' };
export const TWILIO_CREDENTIALS = { account_sid: 'AC0123', auth_token: 'a-secret-token' };
export const SMS_ID = 'SM0123456789abcdef0123456789abcdef';

export const startMessagingServers = async (): Promise<MessagingServers> => {
  const smtp = await startSmtp({ credentials: SMTP_CREDENTIALS });
  const accepted = { status: 201, body: { sid: SMS_ID, status: 'queued' } };
  const smsRequests: SmsRequest[] = [];
  let answer: { readonly status: number; readonly body: object } = accepted;
  const twilio = createServer((req, res) => {
    text(req).then((sent) => {
      const { method, url: path, headers } = req;
      const form = Object.fromEntries(new URLSearchParams(sent));
      const { authorization, 'content-type': type } = headers;
      smsRequests.push({ method, path, authorization, type, form });
      res.writeHead(answer.status, { 'content-type': 'application/json' });
      res.end(JSON.stringify(answer.body));
    });
  }).listen(0, '127.0.0.1');
  await once(twilio, 'listening');
  const { port } = twilio.address() as AddressInfo;
  return {
    environment: {
      OUTBOUND_ALLOWED_NETWORKS: '127.0.0.1/32',
      TWILIO_URL: `http://127.0.0.1:${port}`,
    },
    smtp,
    smsRequests,
    answerSms(given) {
      answer = given ?? accepted;
    },
    account(channel) {
      const name = `Account ${randomUUID()}`;
      if (channel === 'sms') {
        const credentials = TWILIO_CREDENTIALS;
        return { name, provider: 'twilio', sender: '+3612345678', credentials };
      }
      return {
        name,
        from_address: 'support@acme.test',
        host: '127.0.0.1',
        port: smtp.port,
        security: 'none',
        credentials: SMTP_CREDENTIALS,
      };
    },
    async stop() {
      twilio.closeAllConnections();
      twilio.close();
      await smtp.stop();
    },
  };
};
