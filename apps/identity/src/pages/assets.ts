import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { forwarded, type RouteTable } from '@tessera/http-kit';

interface Asset {
  /** Changes with the content, which may so be kept for good. */
  readonly address: string;
  readonly path: string;
  readonly type: string;
  readonly content: Buffer;
}

const asset = (name: string, type: string): Asset => {
  const content = readFileSync(new URL(`../../assets/${name}`, import.meta.url));
  const version = createHash('sha256').update(content).digest('base64url').slice(0, 12);
  const path = `/assets/${name}`;
  return { address: `${path}?v=${version}`, path, type, content };
};

/** What pages load. */
export const assets = {
  style: asset('pages.css', 'text/css'),
  account: asset('account.css', 'text/css'),
  idle: asset('idle.js', 'text/javascript'),
  passwords: asset('show-password.js', 'text/javascript'),
  passwordRules: asset('password-rules.js', 'text/javascript'),
  recoveryCodes: asset('recovery-codes.js', 'text/javascript'),
  icon: asset('icon.svg', 'image/svg+xml'),
};

export const assetRoutes = (): RouteTable =>
  Object.fromEntries(
    Object.entries(assets).map(([name, { path, type, content }]) => [
      `show${name.charAt(0).toUpperCase()}${name.slice(1)}`,
      forwarded({
        method: 'get',
        path,
        summary: `Part of the pages: ${name}`,
        isPage: true,
        responses: {},
        forward: (_req, res) => {
          res.set('Cache-Control', 'public, max-age=31536000, immutable').type(type).send(content);
        },
      }),
    ]),
  );
