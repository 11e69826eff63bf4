import { until } from '@tessera/local-stack';
import type { Page } from 'playwright-core';
import {
  accessibilityViolations,
  openBrowser,
  type TestBrowser,
  takeScreenshot,
} from '../testing/browser.ts';
import { startIdentity, type TestIdentity } from '../testing/identity.ts';

let identity: TestIdentity;
let browser: TestBrowser;
beforeAll(async () => {
  [identity, browser] = await Promise.all([startIdentity(), openBrowser()]);
});
afterAll(async () => {
  await browser.close();
  await identity.stop();
});
afterEach(() => expect(browser.complaints()).toEqual([]));

interface Reader {
  readonly page: Page;
  /** The requests of the page. */
  readonly requests: string[];
}

const open = async (fragment = '', options = {}): Promise<Reader> => {
  const page = await browser.newPerson(options);
  const requests: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  await page.goto(`${identity.url}/docs${fragment}`);
  await page.getByRole('heading', { name: 'Tessera identity', level: 1 }).waitFor();
  return { page, requests };
};

const sections: Readonly<Record<string, string>> = {
  top: '',
  'an operation': '#tag/sign-in/POST/api/auth/login',
};

test('the reference sends no requests to other hosts and violates no content security policy', async () => {
  const { page, requests } = await open();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').or(page.getByRole('searchbox')).first().waitFor();
  await page.waitForLoadState('networkidle');
  const elsewhere = requests.filter(
    (address) => !address.startsWith(`${identity.url}/docs`) && !/^(data|blob):/.test(address),
  );
  expect(elsewhere).toEqual([]);
  expect(requests.length).toBeGreaterThan(5);
});

test('a search finds an operation, and its URL opens it again', async () => {
  const { page } = await open();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('switch tenant');
  await page
    .getByRole('option', { name: /switch/i })
    .first()
    .click();
  await until(() => /#.*switch-tenant/i.test(page.url()));
  const { page: other } = await open(new URL(page.url()).hash);
  await other.getByText('/api/auth/switch-tenant').first().waitFor();
});

test('a token is kept only for the tab', async () => {
  const { page } = await open();
  const token = 'a-token-of-somebody';
  await page.getByLabel(/token/i).first().fill(token);
  const isKept = () =>
    page.evaluate<boolean>(`Object.values(window.sessionStorage).join().includes('${token}')`);
  await until(isKept);
  await page.reload();
  await page.getByRole('heading', { name: 'Tessera identity', level: 1 }).waitFor();
  expect(await page.getByLabel(/token/i).first().inputValue()).toBe(token);
  const kept = await page.context().storageState();
  expect(JSON.stringify(kept)).not.toContain(token);
});

test('every operation has code samples', async () => {
  const { page } = await open(sections['an operation']);
  await page.getByText('curl', { exact: false }).first().waitFor();
});

describe.each(['light', 'dark'] as const)('in %s', (colorScheme) => {
  test.each([
    ['desktop', { width: 1280, height: 800 }],
    ['phone', { width: 390, height: 844 }],
  ])('the reference is accessible on a %s', async (size, viewport) => {
    for (const [name, fragment] of Object.entries(sections)) {
      const { page } = await open(fragment, { colorScheme, viewport });
      await page.waitForLoadState('networkidle');
      await takeScreenshot(page, `reference ${name}.${colorScheme}.${size}`);
      expect([name, await accessibilityViolations(page)]).toEqual([name, []]);
    }
  });
});
