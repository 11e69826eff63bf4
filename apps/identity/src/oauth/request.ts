import { isUtf8 } from 'node:buffer';
import { parse, stringify } from 'node:querystring';
import { Readable } from 'node:stream';
import { type BodyErrors, HttpError, hasBody, parseJson, readBytes } from '@tessera/http-kit';
import type { Request, Response } from 'express';

const FORM = 'application/x-www-form-urlencoded';
const TYPES = [FORM, 'application/json'];

/** Maximum body size in bytes: the longest parameters fit even if each character is escaped to twelve bytes. */
const BODY_LIMIT = 128 * 1024;

/** 400 by default. The app renders it in both shapes, like every error of these endpoints. */
export const invalidRequest = (description: string, status = 400): HttpError =>
  new HttpError(status, 'invalid_request', description);

/** 415: the body is neither a form nor JSON. */
export const wrongType = (): HttpError =>
  invalidRequest(`The body must be sent as ${TYPES.join(' or as ')}.`, 415);

/** 413: the body is too large. */
export const tooLarge = (): HttpError => invalidRequest('The body is too large.', 413);

const errors: BodyErrors = {
  tooLarge,
  malformed: () => invalidRequest('The body could not be read.'),
  unsupportedEncoding: () => invalidRequest('The content encoding is not supported.', 415),
};

const malformedJson = (): HttpError => invalidRequest('The body is not well-formed JSON.');

const requireObject = (value: unknown): object => {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw invalidRequest('The body must be a JSON object.');
};

/** The parameters that an endpoint knows; others are ignored (RFC 6749 section 3.2). */
export type Parameters = Readonly<Record<string, string>>;

/** Reads the known parameters from a form or from JSON; an empty value counts as absent. */
export const readParameters = async (
  req: Request,
  res: Response,
  known: readonly string[],
): Promise<Parameters> => {
  if (hasBody(req) && !req.is(TYPES)) throw wrongType();
  const body = await readBytes(req, res, { limit: BODY_LIMIT, inflates: true, errors });
  if (body && !isUtf8(body.bytes)) throw invalidRequest('The body is not well-formed UTF-8.');
  const isForm = !body || body.bytes.length === 0 || req.is(FORM);
  const given = new Map<string, unknown>(
    Object.entries(
      isForm ? parse(body?.bytes.toString() ?? '') : requireObject(parseJson(body, malformedJson)),
    ),
  );
  const parameters: Record<string, string> = {};
  for (const name of known) {
    const value = given.get(name) ?? '';
    if (Array.isArray(value)) throw invalidRequest(`${name} must be given once.`);
    if (typeof value !== 'string') throw invalidRequest(`${name} must be a string.`);
    // JSON can escape half a character, which no form and no database can express.
    if (!value.isWellFormed())
      throw invalidRequest(`${name} must not contain unpaired surrogates.`);
    if (value) parameters[name] = value;
  }
  return parameters;
};

/** A required parameter; 400 without it. */
export const required = (parameters: Parameters, name: string): string => {
  const value = parameters[name];
  if (value === undefined) throw invalidRequest(`${name} is required.`);
  return value;
};

/** 401: the client did not authenticate. */
export const clientMissing = (challenge: string): HttpError => {
  const description = 'The client must authenticate, by HTTP Basic or in the body.';
  return new HttpError(401, 'invalid_client', description, {
    headers: { 'WWW-Authenticate': challenge },
  });
};

/** Requires HTTP Basic or a `client_id` (RFC 6749 section 5.2). */
const requireClient = (req: Request, parameters: Parameters, challenge: string): void => {
  const { authorization } = req.headers;
  const isBasic = authorization !== undefined && /^basic /i.test(authorization);
  if (isBasic || (authorization === undefined && parameters.client_id)) return;
  throw clientMissing(challenge);
};

/** A request for the provider, with only the listed headers of the original one. */
const rebuilt = (
  { method, socket, httpVersion }: Request,
  { url, headers, body = Buffer.alloc(0) }: Rebuilt,
): Request =>
  Object.assign(Readable.from([body], { objectMode: false }), {
    method,
    url,
    originalUrl: url,
    socket,
    httpVersion,
    headers,
  }) as unknown as Request;

interface Rebuilt {
  readonly url: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body?: Buffer;
}

/**
 * A form with the parameters that the endpoint knows. `Origin` is left out: cross-origin access is decided by
 * the app.
 */
const asForm = (req: Request, parameters: Parameters): Request => {
  const body = Buffer.from(stringify(parameters));
  const { host, authorization } = req.headers;
  const headers = { host, authorization, 'content-type': FORM, 'content-length': `${body.length}` };
  return rebuilt(req, { url: req.originalUrl, headers, body });
};

/** Checks a request to an OAuth endpoint, and returns it as the provider takes it, with its parameters. */
export const providerRequest = async (
  req: Request,
  res: Response,
  { known, challenge }: { readonly known: readonly string[]; readonly challenge: string },
): Promise<{ readonly request: Request; readonly parameters: Parameters }> => {
  const parameters = await readParameters(req, res, known);
  requireClient(req, parameters, challenge);
  return { request: asForm(req, parameters), parameters };
};

/**
 * A browser's request for a URL below the issuer, with its cookies. The provider builds URLs from the Host
 * header and the scheme, so it gets those of the issuer, whatever the request says.
 */
export const browserRequest = (req: Request, issuer: string, url: string): Request => {
  const { host, protocol } = new URL(issuer);
  const { cookie } = req.headers;
  const headers = { host, 'x-forwarded-proto': protocol.slice(0, -1), cookie };
  return rebuilt(req, { url, headers });
};
