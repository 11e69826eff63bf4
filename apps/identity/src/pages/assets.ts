import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { forwarded, type RouteTable } from '@tessera/http-kit';
import type { Brand } from '../config/brand.ts';

interface StaticFile {
  readonly path: string;
  readonly type: string;
  readonly content: Buffer | string;
  /** A hash of the content. */
  readonly version: string;
  /** Content-Security-Policy that replaces the default one. */
  readonly policy?: string;
}

interface Asset extends StaticFile {
  /** URL with the version, so that it can be cached indefinitely. */
  readonly address: string;
}

const asset = (name: string, type: string): Asset => {
  const content = readFileSync(new URL(`../../assets/${name}`, import.meta.url));
  const version = createHash('sha256').update(content).digest('base64url').slice(0, 12);
  const path = `/assets/${name}`;
  return { address: `${path}?v=${version}`, path, type, content, version };
};

/** Static files of the pages. */
export const assets = {
  style: asset('pages.css', 'text/css'),
  account: asset('account.css', 'text/css'),
  idle: asset('idle.js', 'text/javascript'),
  passwords: asset('show-password.js', 'text/javascript'),
  passwordRules: asset('password-rules.js', 'text/javascript'),
  recoveryCodes: asset('recovery-codes.js', 'text/javascript'),
  sendOnce: asset('send-once.js', 'text/javascript'),
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

/**
 * A file may be cached only under the URL with its own version. While a release is being deployed, pages of one replica
 * also get files of other versions from other replicas, which must not stay in caches in their place.
 */
const staticFileRoute = (name: string, { path, type, content, version, policy }: StaticFile) =>
  forwarded({
    method: 'get',
    path,
    summary: `Static file: ${name}`,
    isPage: true,
    crossOrigin: 'embedding',
    responses: {},
    forward: ({ query }, res) => {
      if (policy !== undefined) res.set('Content-Security-Policy', policy);
      const isCacheable = query.v === version;
      res.set('Cache-Control', isCacheable ? 'public, max-age=31536000, immutable' : 'no-store');
      res.type(type).send(content);
    },
  });

const staticFilesOf = ({ style, logo }: Brand): Readonly<Record<string, StaticFile>> => ({
  ...assets,
  ...(style && { brand: { ...style, path: BRAND_STYLE, type: 'text/css' } }),
  ...(logo && { logo: { ...logo, path: LOGO, policy: LOGO_POLICY } }),
});

export const assetRoutes = (brand: Brand): RouteTable =>
  Object.fromEntries(
    Object.entries(staticFilesOf(brand)).map(([name, part]) => [
      `show${name.charAt(0).toUpperCase()}${name.slice(1)}`,
      staticFileRoute(name, part),
    ]),
  );
