import { type Field, matching } from '@tessera/fields';

/** Where clamd listens. */
export type ClamdAddress =
  | { readonly host: string; readonly port: number }
  | { readonly path: string };

const DEFAULT_PORT = 3310;

/** The field of a setting with the address of clamd. */
export const clamdUrl = (): Field<string, false> =>
  matching(
    /^(?:tcp:\/\/(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?|unix:\/[^\0]+)$/,
    'tcp://host:port, or unix: followed by the absolute path of a socket',
    300,
  );

/** The address in a value of `clamdUrl`. The port of TCP is 3310 unless it is given. */
export const clamdAddress = (url: string): ClamdAddress => {
  if (url.startsWith('unix:')) return { path: url.slice('unix:'.length).replace(/^\/+/, '/') };
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  return { host, port: port === '' ? DEFAULT_PORT : Number(port) };
};
