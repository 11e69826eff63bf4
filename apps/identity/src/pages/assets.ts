import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { forwarded, type RouteTable } from '@tessera/http-kit';
import type { Brand } from '../config/brand.ts';

interface Asset {
  /** URL with a hash of the content, so that it can be cached indefinitely. */
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

/** Static files of the pages. */
export const assets = {
  style: asset('pages.css', 'text/css'),
  account: asset('account.css', 'text/css'),
  idle: asset('idle.js', 'text/javascript'),
  passwords: asset('show-password.js', 'text/javascript'),
  passwordRules: asset('password-rules.js', 'text/javascript'),
  recoveryCodes: asset('recovery-codes.js', 'text/javascript'),
  icon: asset('icon.svg', 'image/svg+xml'),
};

const BRAND_STYLE = '/assets/brand.css';
const LOGO = '/assets/logo';

/** URL of the style sheet with brand colours; null if there is none. */
export const brandStyleAddress = ({ style }: Brand): string | null =>
  style && `${BRAND_STYLE}?v=${style.version}`;

/** URL of the logo; null if the default mark is shown. */
export const logoAddress = ({ logo }: Brand): string | null => logo && `${LOGO}?v=${logo.version}`;

/** A logo opened directly runs no scripts and loads nothing. */
const LOGO_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

interface StaticFile {
  readonly path: string;
  readonly type: string;
  readonly content: Buffer | string;
  /** Content-Security-Policy that replaces the default one. */
  readonly policy?: string;
}

const staticFileRoute = (name: string, { path, type, content, policy }: StaticFile) =>
  forwarded({
    method: 'get',
    path,
    summary: `Static file: ${name}`,
    isPage: true,
    responses: {},
    forward: (_req, res) => {
      if (policy !== undefined) res.set('Content-Security-Policy', policy);
      res.set('Cache-Control', 'public, max-age=31536000, immutable').type(type).send(content);
    },
  });

const staticFilesOf = ({ style, logo }: Brand): Readonly<Record<string, StaticFile>> => ({
  ...assets,
  ...(style && { brand: { path: BRAND_STYLE, type: 'text/css', content: style.content } }),
  ...(logo && {
    logo: { path: LOGO, type: logo.type, content: logo.content, policy: LOGO_POLICY },
  }),
});

export const assetRoutes = (brand: Brand): RouteTable =>
  Object.fromEntries(
    Object.entries(staticFilesOf(brand)).map(([name, part]) => [
      `show${name.charAt(0).toUpperCase()}${name.slice(1)}`,
      staticFileRoute(name, part),
    ]),
  );
