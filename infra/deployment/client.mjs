import { readFileSync } from 'node:fs';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { text } from 'node:stream/consumers';

const CERTIFICATE = '/etc/nginx/tessera/certificate.pem';

/**
 * Sends a request from one of the machine's addresses; returns the response with its body unread.
 */
export const open = (url, { from = '203.0.113.1', method = 'GET', headers = {}, body } = {}) =>
  new Promise((resolve, reject) => {
    const isSecure = url.startsWith('https:');
    const send = isSecure ? requestHttps : requestHttp;
    const request = send(url, {
      method,
      headers,
      localAddress: from,
      agent: false,
      ...(isSecure && { ca: readFileSync(CERTIFICATE) }),
    });
    request.once('response', resolve).once('error', reject).end(body);
  });

/** As `open`, with the body as text. */
export const ask = async (url, options) => {
  const answer = await open(url, options);
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer) };
};

/** Sends a JSON request; throws unless the response has the expected status. */
export const askJson = async (url, expected, { json, token, headers = {}, ...options } = {}) => {
  const { status, body } = await ask(url, {
    method: json === undefined ? 'GET' : 'POST',
    ...options,
    headers: {
      ...headers,
      ...(json !== undefined && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
  if (status !== expected) throw new Error(`${url} responded with ${status}: ${body}`);
  return body === '' ? undefined : JSON.parse(body);
};
