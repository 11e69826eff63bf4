import { Agent, type OutgoingHttpHeaders, request } from 'node:http';

const TIMEOUT_MS = 15_000;

/** A request of a benchmark. */
export interface Sent {
  readonly method?: string;
  readonly url: string;
  readonly token?: string;
  /** Sent as JSON. */
  readonly json?: unknown;
  readonly body?: Buffer;
  readonly headers?: OutgoingHttpHeaders;
}

/** A response; status 0 if the connection ended or nothing came within 15 seconds. */
export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Sends requests from one loopback address, because limits of addresses count each of them. */
export interface Sender {
  send(sent: Sent, signal?: AbortSignal): Promise<Answer>;
  close(): void;
}

export const createSender = (localAddress: string): Sender => {
  const agent = new Agent({ keepAlive: true, localAddress });
  return {
    send: ({ method = 'GET', url, token, json, body, headers }, signal) =>
      new Promise((resolve) => {
        const content = json === undefined ? body : Buffer.from(JSON.stringify(json));
        const ended = (): void => resolve({ status: 0, text: '' });
        const sent = request(
          url,
          {
            method,
            agent,
            ...(signal && { signal }),
            headers: Object.assign(
              {},
              token !== undefined && { authorization: `Bearer ${token}` },
              json !== undefined && { 'content-type': 'application/json' },
              content && { 'content-length': content.length },
              headers,
            ),
          },
          (response) => {
            const chunks: Buffer[] = [];
            response.on('data', (chunk: Buffer) => chunks.push(chunk));
            response.on('end', () =>
              resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
            );
            response.on('error', ended);
          },
        );
        sent.setTimeout(TIMEOUT_MS, () => sent.destroy());
        sent.on('error', ended);
        sent.end(content);
      }),
    close: () => agent.destroy(),
  };
};

/** The `data` of a response; throws if the request failed. */
export const dataOf = <Data>({ status, text }: Answer, what: string): Data => {
  if (status < 200 || status > 299) throw new Error(`${what}: ${status} ${text.slice(0, 300)}`);
  return (JSON.parse(text) as { data: Data }).data;
};

const BOUNDARY = 'noisy-boundary';

/** A form with fields and a file. */
export const formOf = (
  fields: Readonly<Record<string, string>>,
  file: { readonly name: string; readonly type: string; readonly content: Buffer },
): Pick<Sent, 'body' | 'headers'> => {
  const part = (disposition: string, type = ''): string =>
    `--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}\r\n${type}\r\n`;
  const before = Object.entries(fields).map(
    ([name, value]) => `${part(`name="${name}"`)}${value}\r\n`,
  );
  const ofFile = part(`name="file"; filename="${file.name}"`, `Content-Type: ${file.type}\r\n`);
  return {
    headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
    body: Buffer.concat([
      Buffer.from(before.join('') + ofFile),
      file.content,
      Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
    ]),
  };
};
