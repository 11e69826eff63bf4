import type { Page } from 'playwright-core';
import type { User } from '../generated/prisma/client.ts';
import {
  accessibilityViolations,
  openBrowser,
  type TestBrowser,
  takeScreenshot,
} from './browser.ts';
import { enterCredentials, startSite, type TestSite } from './pages.ts';
import { city, placeDatabase, placeFile } from './place-database.ts';
import { type RelyingParty, startRelyingParty } from './relying-party.ts';

const sizes = {
  desktop: { width: 1280, height: 800 },
  phone: { width: 390, height: 844 },
  // A phone at 200 %, narrower than the 320 pixels required by WCAG 1.4.10.
  zoomed: { width: 195, height: 422 },
} as const;

/** Shows a page in all themes and sizes, and checks that it fits and is accessible. */
export const look = async (page: Page, name: string): Promise<void> => {
  await page.waitForLoadState();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    for (const [size, viewport] of Object.entries(sizes)) {
      await page.setViewportSize(viewport);
      await takeScreenshot(page, `${name}.${colorScheme}.${size}`, { fullPage: true });
      const isTooWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
      expect([name, size, isTooWide]).toEqual([name, size, false]);
    }
    expect(await accessibilityViolations(page)).toEqual([]);
  }
};

/** How to get to each page, by the name of its screenshots. */
export type Pages = Readonly<Record<string, (page: Page) => Promise<unknown>>>;

/** Declares a test for each page. */
export const testPages = (browser: TestBrowser, pages: Pages): void => {
  describe('accessible in light and dark, large and small', () => {
    test.each(Object.entries(pages))('%s', async (name, go) => {
      const page = await browser.newPerson();
      await go(page);
      await look(page, name.replaceAll(' ', '-'));
      await page.context().close();
    });
  });
};

/** A site, a browser and a third-party application, to look at the pages. */
export interface Looks {
  readonly site: TestSite;
  readonly browser: TestBrowser;
  readonly stranger: RelyingParty;
  newUser(): Promise<User>;
  open(path: string): (page: Page) => Promise<void>;
  /** A user signed in with a password only. */
  enter(page: Page): Promise<User>;
  stop(): Promise<void>;
}

export const startLooks = async (): Promise<Looks> => {
  const places = await placeFile(
    placeDatabase({ '203.0.113.0/24': city('HU', { en: 'Budapest', de: 'Budapest' }) }),
  );
  const [site, browser] = await Promise.all([
    startSite({ GEOIP_DATABASE: places.path }),
    openBrowser(),
  ]);
  const stranger = await startRelyingParty(site.identity, site.flow, {
    isTrusted: false,
    allowedScopes: ['*'],
  });
  const newUser = async () =>
    site.identity.people.user({
      tenant: await site.identity.people.tenant(),
      data: { email: `ada.${Math.random().toString(36).slice(2, 8)}@example.com` },
    });
  const open = (path: string) => async (page: Page) => {
    await page.goto(site.url + path);
  };
  return {
    site,
    browser,
    stranger,
    newUser,
    open,
    async enter(page) {
      const user = await newUser();
      await open('/sign-in')(page);
      await enterCredentials(page, user);
      return user;
    },
    async stop() {
      await browser.close();
      await stranger.stop();
      await site.stop();
      await places.remove();
    },
  };
};
