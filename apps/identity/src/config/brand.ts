import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** The settings of the operator's brand. */
export interface BrandSettings {
  /** The accent in the light colour scheme, as `#rrggbb`. */
  readonly accent: string | undefined;
  /** The accent in the dark colour scheme. */
  readonly accentDark: string | undefined;
  /** The path of an SVG or PNG file. */
  readonly logo: string | undefined;
}

export interface Picture {
  readonly type: 'image/svg+xml' | 'image/png';
  readonly content: Buffer;
  /** A hash of the content; a URL that contains it can be cached indefinitely. */
  readonly version: string;
}

export interface Brand {
  /** The style sheet with the colours, and its version; null if the default colours are used. */
  readonly style: { readonly content: string; readonly version: string } | null;
  /** Null if the default mark is shown. */
  readonly logo: Picture | null;
}

type Rgb = readonly [red: number, green: number, blue: number];

/** The minimum contrast of text, links and buttons (WCAG 2.2, 1.4.3). */
const ENOUGH = 4.5;
const MAX_LOGO_BYTES = 256 * 1024;

/** The backgrounds of the accent, as in assets/pages.css: the card and the page in each colour scheme. */
export const SURFACES = {
  light: { card: '#ffffff', ground: '#f4f5f9' },
  dark: { card: '#161c2a', ground: '#0e121c' },
} as const;

type Scheme = keyof typeof SURFACES;

const rgbOf = (hex: string): Rgb => {
  const value = Number.parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
};

const hexOf = (rgb: Rgb): string =>
  `#${rgb.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;

const channel = (part: number): number => {
  const share = part / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
};

const luminance = (hex: string): number => {
  const [red, green, blue] = rgbOf(hex).map(channel) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};

/** The contrast of two colours (WCAG 2.2): from 1 to 21. */
export const contrast = (one: string, other: string): number => {
  const [brighter = 0, darker = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (brighter + 0.05) / (darker + 0.05);
};

/** A mix of two colours. */
const mixed = (hex: string, other: string, share: number): string => {
  const [a, b] = [rgbOf(hex), rgbOf(other)];
  return hexOf([0, 1, 2].map((i) => (a[i] ?? 0) * (1 - share) + (b[i] ?? 0) * share) as never);
};

/** The lowest contrast of an accent with its backgrounds. */
const leastContrast = (accent: string, scheme: Scheme): number =>
  Math.min(...Object.values(SURFACES[scheme]).map((surface) => contrast(accent, surface)));

const requireContrast = (variable: string, accent: string, scheme: Scheme): void => {
  const least = leastContrast(accent, scheme);
  if (least >= ENOUGH) return;
  const fault = scheme === 'light' ? 'darker' : 'lighter';
  throw new Error(
    `${variable}: ${accent} has a contrast of ${least.toFixed(2)} with the ${scheme} pages, and text needs ${ENOUGH} (WCAG AA). Choose a ${fault} colour.`,
  );
};

/** The accent for dark pages that comes closest to the one for light ones. */
const lightened = (accent: string): string => {
  for (let share = 0; share < 1; share += 0.05) {
    const candidate = mixed(accent, '#ffffff', share);
    if (leastContrast(candidate, 'dark') >= ENOUGH) return candidate;
  }
  return '#ffffff';
};

/** The variables of pages.css that are derived from an accent. */
const variablesOf = (accent: string, scheme: Scheme): string => {
  const { card, ground } = SURFACES[scheme];
  const onAccent = contrast(accent, '#ffffff') >= ENOUGH ? '#ffffff' : '#0e121c';
  const values = {
    accent,
    'accent-deep': mixed(accent, scheme === 'light' ? '#000000' : '#ffffff', 0.2),
    'on-accent': onAccent,
    tile: mixed(accent, card, 0.45),
    glow: mixed(ground, accent, 0.12),
  };
  return Object.entries(values)
    .map(([name, value]) => `--${name}: ${value};`)
    .join(' ');
};

const versionOf = (content: Buffer | string): string =>
  createHash('sha256').update(content).digest('base64url').slice(0, 12);

const styleOf = ({ accent, accentDark }: BrandSettings): Brand['style'] => {
  if (accent !== undefined) requireContrast('BRAND_ACCENT', accent, 'light');
  if (accentDark !== undefined) requireContrast('BRAND_ACCENT_DARK', accentDark, 'dark');
  const dark = accentDark ?? (accent && lightened(accent));
  if (dark === undefined) return null;
  const light = accent === undefined ? '' : `:root { ${variablesOf(accent, 'light')} }\n`;
  const content = `${light}@media (prefers-color-scheme: dark) { :root { ${variablesOf(dark, 'dark')} } }\n`;
  return { content, version: versionOf(content) };
};

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');

const typeOf = (content: Buffer): Picture['type'] | null => {
  if (content.subarray(0, PNG.length).equals(PNG)) return 'image/png';
  return /<svg[\s>]/.test(content.toString('utf8')) ? 'image/svg+xml' : null;
};

const logoOf = (path: string | undefined): Picture | null => {
  if (path === undefined) return null;
  const refused = (why: string, cause?: unknown) =>
    new Error(`BRAND_LOGO names ${path}, which ${why}.`, { cause });
  let content: Buffer;
  try {
    content = readFileSync(path);
  } catch (error) {
    throw refused(`cannot be read (${(error as NodeJS.ErrnoException).code})`, error);
  }
  if (content.length > MAX_LOGO_BYTES) throw refused('is larger than 256 kB');
  const type = typeOf(content);
  if (type === null) throw refused('is neither an SVG nor a PNG file');
  return { type, content, version: versionOf(content) };
};

/** The brand of the pages; throws an error that names the invalid variable. */
export const brandOf = (settings: BrandSettings): Brand => ({
  style: styleOf(settings),
  logo: logoOf(settings.logo),
});
