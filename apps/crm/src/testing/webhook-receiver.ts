import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

/** A request that a receiver got. */
export interface ReceivedWebhook {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect.
  readonly json: any;
}

type Respond = (res: ServerResponse, request: ReceivedWebhook) => void;

/** A server on 127.0.0.1 that receives webhooks. */
export interface WebhookReceiver {
  readonly url: string;
  readonly port: number;
  readonly received: readonly ReceivedWebhook[];
  /** How further requests are answered. Default: with 204. */
  respond(how: Respond): void;
  stop(): Promise<void>;
}

export const startReceiver = async (): Promise<WebhookReceiver> => {
  const received: ReceivedWebhook[] = [];
  let respond: Respond = (res) => void res.writeHead(204).end();
  const server = createServer(async (req, res) => {
    const body = await text(req);
    const request = { headers: req.headers, body, json: JSON.parse(body) };
    received.push(request);
    respond(res, request);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    received,
    respond(how) {
      respond = how;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

/** Whether a request verifies with a secret, by the package of the specification. */
export const verifies = ({ headers, body }: ReceivedWebhook, secret: string): boolean => {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
};
