import { freePort } from '@tessera/local-stack';
import type { Locator, Page } from 'playwright-core';
import { CodeFlow } from './code-flow.ts';
import { startIdentity, type TestIdentity } from './identity.ts';
import { type Mailbox, openMailbox } from './mailbox.ts';
import { PASSWORD } from './population.ts';

/** Identity as somebody with a browser finds it. */
export interface TestSite {
  readonly identity: TestIdentity;
  readonly url: string;
  readonly mailbox: Mailbox;
  readonly flow: CodeFlow;
  stop(): Promise<void>;
}

export const startSite = async (
  environment: Readonly<Record<string, string>> = {},
): Promise<TestSite> => {
  const mailbox = await openMailbox();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const identity = await startIdentity({
    APP_ENV: 'local',
    PORT: `${port}`,
    ISSUER: url,
    MAIL_DIRECTORY: mailbox.directory,
    REGISTRATION_ENABLED: 'true',
    ...environment,
  });
  return {
    identity,
    url,
    mailbox,
    flow: new CodeFlow(identity),
    async stop() {
      await identity.stop();
      await mailbox.remove();
    },
  };
};

/** Fills in what has these labels. */
export const fill = async (page: Page, values: Readonly<Record<string, string>>): Promise<void> => {
  for (const [label, value] of Object.entries(values)) {
    await page.getByLabel(label, { exact: true }).fill(value);
  }
};

/** Sends the form of a button, and waits until the page that follows is there as a whole. */
export const pressOn = async (page: Page, button: Locator): Promise<void> => {
  const followed = page.waitForEvent('domcontentloaded');
  await button.click();
  await followed;
};

export const press = (page: Page, name: string): Promise<void> =>
  pressOn(page, page.getByRole('button', { name, exact: true }));

/** Waits until what is typed goes there: a browser moves the focus a while after the page is there. */
export const hasFocus = (page: Page, target: Locator): Promise<void> =>
  target.and(page.locator(':focus')).waitFor();

/** Address and password, on the sign-in page. */
export const enterCredentials = async (
  page: Page,
  { email }: { readonly email: string | null },
  password = PASSWORD,
): Promise<void> => {
  await fill(page, { 'Email address': email ?? '', Password: password });
  await press(page, 'Sign in');
};

export const enterCode = async (page: Page, code: string): Promise<void> => {
  await fill(page, { Code: code });
  await press(page, 'Continue');
};

/** Waits until the page has this heading. */
export const sees = (page: Page, heading: string): Promise<void> =>
  page.getByRole('heading', { name: heading, exact: true }).waitFor();

/** Waits until the page says this, once or more often, as a part of something. */
export const reads = (page: Page, text: string | RegExp): Promise<void> =>
  page.getByText(text).first().waitFor();

/** Waits until any account page is there; some have a second navigation of that name. */
export const seesAccount = (page: Page): Promise<void> =>
  page.getByRole('navigation', { name: 'Account' }).first().waitFor();
