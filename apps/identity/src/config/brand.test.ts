import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readConfig } from '../config.ts';
import { startIdentity, testEnvironment } from '../testing/identity.ts';
import { contrast, SURFACES } from './brand.ts';

const LOGO = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><script>1</script></svg>';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'tessera-brand-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

const file = (name: string, content: string | Buffer): string => {
  const at = path.join(directory, name);
  writeFileSync(at, content);
  return at;
};
const configured = (environment: Record<string, string>) =>
  readConfig({ ...testEnvironment('postgres://localhost/x'), ...environment }).brand;

describe('the colours of a brand', () => {
  test.each([
    ['BRAND_ACCENT', '#ffcc00', 'darker'],
    ['BRAND_ACCENT_DARK', '#102040', 'lighter'],
  ])('%s is rejected if text in that colour would be illegible', (name, color, remedy) => {
    expect(() => configured({ [name]: color })).toThrow(
      new RegExp(`^${name}: ${color} has a contrast of .* Choose a ${remedy} colour\\.$`),
    );
  });

  test.each(['BRAND_ACCENT', 'BRAND_ACCENT_DARK'])(
    '%s is rejected if it is not a colour',
    (name) => {
      expect(() => configured({ [name]: 'red; } body {' })).toThrow(name);
    },
  );

  test.each(['#0b6b46', '#000000', '#7a1fa2', '#3b5bdb'])(
    '%s alone yields legible colours for dark pages',
    (accent) => {
      const css = configured({ BRAND_ACCENT: accent }).style?.content ?? '';
      const [light, dark] = css.split('@media');
      for (const [scheme, sheet] of [
        ['light', light],
        ['dark', dark],
      ] as const) {
        const value = (name: string) =>
          new RegExp(`--${name}: (#[0-9a-f]{6});`).exec(sheet ?? '')?.[1] ?? '';
        for (const name of ['accent', 'accent-deep']) {
          expect(contrast(value(name), SURFACES[scheme].card)).toBeGreaterThanOrEqual(4.5);
          expect(contrast(value(name), SURFACES[scheme].ground)).toBeGreaterThanOrEqual(4.5);
          expect(contrast(value(name), value('on-accent'))).toBeGreaterThanOrEqual(4.5);
        }
      }
    },
  );

  test('are checked against the actual backgrounds of the pages', () => {
    const css = readFileSync(new URL('../../assets/pages.css', import.meta.url), 'utf8');
    const [light = '', dark = ''] = css.split('@media (prefers-color-scheme: dark)');
    for (const [scheme, sheet] of [
      ['light', light],
      ['dark', dark],
    ] as const) {
      for (const [name, color] of Object.entries(SURFACES[scheme])) {
        expect(sheet).toContain(`--${name}: ${color};`);
      }
    }
  });
});

describe('the logo of a brand', () => {
  test('is rejected if it is missing, too large or not a picture', () => {
    const logo = (at: string) => () => configured({ BRAND_LOGO: at });
    expect(logo('/nowhere.svg')).toThrow('BRAND_LOGO names /nowhere.svg, which cannot be read');
    expect(logo(file('a.txt', 'hello'))).toThrow('is neither an SVG nor a PNG file');
    expect(logo(file('b.svg', `<svg >${' '.repeat(300_000)}`))).toThrow('is larger than 256 kB');
  });

  test('is shown on the pages with the colours, cached permanently, and runs no scripts', async () => {
    const BRAND_LOGO = file('logo.svg', LOGO);
    const identity = await startIdentity({ BRAND_LOGO, BRAND_ACCENT: '#0b6b46' });
    try {
      const { text } = await identity.http.get('/sign-in').expect(200);
      const [, address = ''] = /<img class="logo" src="([^"]+)"/.exec(text) ?? [];
      const [, style = ''] = /href="(\/assets\/brand\.css[^"]+)"/.exec(text) ?? [];
      expect(text).not.toContain('class="mark"');
      expect(text).toContain(`<link rel="icon" href="${address}"`);
      const logo = await identity.http.get(address).expect(200);
      expect(logo.headers).toMatchObject({
        'content-type': expect.stringContaining('image/svg+xml'),
        'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
        'cache-control': 'public, max-age=31536000, immutable',
        'x-content-type-options': 'nosniff',
      });
      const sheet = await identity.http.get(style).expect(200);
      expect(sheet.text).toContain('--accent: #0b6b46;');
      expect(text).not.toMatch(/ style=|<style/);
    } finally {
      await identity.stop();
    }
  });
});
