import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { forwarded, type RouteTable } from '@tessera/http-kit';
import type { Brand } from '../config/brand.ts';

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

const BRAND_STYLE = '/assets/brand.css';
const LOGO = '/assets/logo';

/** The address of the style sheet with the colours of the brand; null where there is none. */
export const brandStyleAddress = ({ style }: Brand): string | null =>
  style && `${BRAND_STYLE}?v=${style.version}`;

/** The address of the logo; null where the mark stands in its place. */
export const logoAddress = ({ logo }: Brand): string | null => logo && `${LOGO}?v=${logo.version}`;

/** A logo is shown as a picture; opened by itself it runs no scripts and loads nothing. */
const INERT = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

interface Part {
  readonly path: string;
  readonly type: string;
  readonly content: Buffer | string;
  /** In the place of the usual policy. */
  readonly policy?: string;
}

const partRoute = (name: string, { path, type, content, policy }: Part) =>
  forwarded({
    method: 'get',
    path,
    summary: `Part of the pages: ${name}`,
    isPage: true,
    responses: {},
    forward: (_req, res) => {
      if (policy !== undefined) res.set('Content-Security-Policy', policy);
      res.set('Cache-Control', 'public, max-age=31536000, immutable').type(type).send(content);
    },
  });

const partsOf = ({ style, logo }: Brand): Readonly<Record<string, Part>> => ({
  ...assets,
  ...(style && { brand: { path: BRAND_STYLE, type: 'text/css', content: style.content } }),
  ...(logo && {
    logo: { path: LOGO, type: logo.type, content: logo.content, policy: INERT },
  }),
});

export const assetRoutes = (brand: Brand): RouteTable =>
  Object.fromEntries(
    Object.entries(partsOf(brand)).map(([name, part]) => [
      `show${name.charAt(0).toUpperCase()}${name.slice(1)}`,
      partRoute(name, part),
    ]),
  );
