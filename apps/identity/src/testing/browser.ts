import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import axe from 'axe-core';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
  type PageScreenshotOptions,
} from 'playwright-core';

/** Chromium refuses to run as root in its sandbox. */
const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];

const launch = (): Promise<Browser> => {
  const executablePath = process.env.CHROMIUM_PATH;
  if (executablePath) return chromium.launch({ executablePath, args });
  throw new Error('CHROMIUM_PATH is not set: run `npm run test:browser`.');
};

/** Chromium, in which several people may sit side by side. */
export interface TestBrowser {
  /** Somebody with a browser of their own: without cookies, and in English unless told. */
  newPerson(options?: BrowserContextOptions): Promise<Page>;
  /** What browsers complained of since the last time: policies that were broken, scripts that failed. */
  complaints(): string[];
  close(): Promise<void>;
}

export const openBrowser = async (): Promise<TestBrowser> => {
  const browser = await launch();
  const complaints: string[] = [];
  const contexts: BrowserContext[] = [];
  return {
    complaints: () => complaints.splice(0),
    async newPerson(options = {}) {
      const context = await browser.newContext({ locale: 'en-GB', ...options });
      contexts.push(context);
      context.on('console', (message) => {
        // A page that is refused on purpose is told of as an error, too.
        const isAnswer = message.text().startsWith('Failed to load resource');
        if (message.type() === 'error' && !isAnswer) {
          complaints.push(`${message.page()?.url()}: ${message.text()}`);
        }
      });
      context.on('weberror', (error) => complaints.push(String(error.error())));
      return context.newPage();
    },
    async close() {
      await Promise.all(contexts.map((context) => context.close()));
      await browser.close();
    },
  };
};

const directory = new URL('../../../../.data/screenshots/', import.meta.url);

/** Writes a screenshot to `.data/screenshots` if `SCREENSHOTS` is `true`. */
export const takeScreenshot = async (
  page: Page,
  name: string,
  options: PageScreenshotOptions = {},
): Promise<void> => {
  if (process.env.SCREENSHOTS !== 'true') return;
  await mkdir(directory, { recursive: true });
  const path = fileURLToPath(new URL(`${name}.png`, directory));
  await page.screenshot({ ...options, path });
};

interface Finding {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** What axe finds wrong for people who cannot see, hear or point well: a sentence each. */
export const accessibilityViolations = async (page: Page): Promise<string[]> => {
  await page.evaluate(axe.source);
  const findings: Finding[] = await page.evaluate(
    'axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations)',
  );
  return findings.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${failureSummary} ${html}`),
  );
};
