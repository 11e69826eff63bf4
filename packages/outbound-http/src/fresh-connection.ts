import { once } from 'node:events';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { Readable } from 'node:stream';

/** Without a body (RFC 9110 section 15): the constructor of `Response` refuses one. */
const WITHOUT_BODY: readonly number[] = [204, 205, 304];

/** As `fetch` of a request without a body, on a connection that no other request has used. */
export const fetchOnFreshConnection = async (
  { url, method, headers }: Request,
  signal: AbortSignal,
): Promise<Response> => {
  const send = url.startsWith('https:') ? requestHttps : requestHttp;
  const options = { method, headers: Object.fromEntries(headers), agent: false, signal } as const;
  const sent = send(url, options).end();
  const responded = once(sent, 'response') as Promise<[IncomingMessage]>;
  // An error after the head of the response is that of its body.
  sent.on('error', () => undefined);
  const [message] = await responded;
  const received = new Headers();
  for (const [name, values = []] of Object.entries(message.headersDistinct)) {
    for (const value of values) received.append(name, value);
  }
  const { statusCode: status = 0 } = message;
  // The types of Node and of the DOM describe the same stream.
  const body = WITHOUT_BODY.includes(status) ? null : (Readable.toWeb(message) as ReadableStream);
  return new Response(body, { status, headers: received });
};
