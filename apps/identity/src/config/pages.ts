import {
  described,
  matching,
  type OutOf,
  optional,
  rawText,
  text,
  url,
  withDefault,
  withRule,
} from '@tessera/fields';
import { brandOf } from './brand.ts';
import { baseUrl } from './fields.ts';

const color = () => matching(/^#[0-9a-fA-F]{6}$/, 'a colour such as #3b5bdb', 7);

/** Where the pages are and what they look like. */
export const pageVariables = {
  FRONTEND_URL: described(
    optional(baseUrl()),
    'Base URL of the pages that mails link to: /password/reset, /password/forgot, /invitations/accept. Defaults to ISSUER.',
  ),
  FRONTEND_LOGIN_URL: described(
    optional(
      withRule(url(1000), (value) =>
        value.includes('#') ? 'must be an http(s) URL without a fragment' : undefined,
      ),
    ),
    "Login page that /oauth/authorize redirects to, with `return_to`. Defaults to identity's own; its other pages are still used.",
  ),
  BRAND_NAME: described(
    withDefault(text(60), 'Tessera'),
    "Product name shown on identity's pages and in its mails.",
  ),
  BRAND_ACCENT: described(
    optional(color()),
    'Colour of links and buttons on light pages, as #rrggbb. Text in it must be readable (WCAG AA).',
  ),
  BRAND_ACCENT_DARK: described(
    optional(color()),
    'The same for dark pages. Defaults to BRAND_ACCENT, lightened as much as contrast requires.',
  ),
  BRAND_LOGO: described(
    optional(rawText(1000)),
    'Path of an SVG or PNG file of at most 256 kB, shown as the logo and as the icon.',
  ),
  GEOIP_DATABASE: described(
    optional(rawText(1000)),
    'Path of a geolocation database in MaxMind DB format, such as GeoLite2-City.mmdb or DB-IP Lite. With it, users see the city and country of their devices. A new file is picked up within an hour.',
  ),
} as const;

export const pageSettings = (
  read: OutOf<typeof pageVariables>,
  { issuer }: { readonly issuer: string },
) => ({
  /** The base URL of the pages that mails link to. */
  pages: read.FRONTEND_URL ?? issuer,
  frontendLoginUrl: read.FRONTEND_LOGIN_URL,
  brandName: read.BRAND_NAME,
  brand: brandOf({
    accent: read.BRAND_ACCENT,
    accentDark: read.BRAND_ACCENT_DARK,
    logo: read.BRAND_LOGO,
  }),
  geoipDatabase: read.GEOIP_DATABASE,
});
