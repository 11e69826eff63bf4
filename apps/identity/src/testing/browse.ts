import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

export interface Browsed {
  readonly status: number;
  /** Where it redirects to. */
  readonly location: string | undefined;
  /** The cookies that it sets. */
  readonly cookies: readonly string[];
  readonly body: string;
}

/** Opens an address with cookies, and does not follow a redirect. */
export const browse = async (
  address: string | URL,
  cookies: readonly string[],
): Promise<Browsed> => {
  const [response] = (await once(
    get(address, { headers: { cookie: cookies.join('; ') } }),
    'response',
  )) as [IncomingMessage];
  const { location, 'set-cookie': set = [] } = response.headers;
  return {
    status: response.statusCode ?? 0,
    location,
    cookies: set.map((one) => one.split(';')[0] ?? ''),
    body: await text(response),
  };
};
