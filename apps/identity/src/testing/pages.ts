import { freePort } from '@tessera/local-stack';
import type { Page } from 'playwright-core';
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
    ...{ APP_ENV: 'local', PORT: `${port}`, ISSUER: url },
    ...{ MAIL_DIRECTORY: mailbox.directory, REGISTRATION_ENABLED: 'true' },
    ...environment,
  });
  return {
    ...{ identity, url, mailbox },
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

export const press = (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).click();

/** Address and password, on the sign-in page. */
export const giveCredentials = async (
  page: Page,
  { email }: { readonly email: string | null },
  password = PASSWORD,
): Promise<void> => {
  await fill(page, { 'E-mail address': email ?? '', Password: password });
  await press(page, 'Sign in');
};

export const giveCode = async (page: Page, code: string): Promise<void> => {
  await fill(page, { Code: code });
  await press(page, 'Continue');
};

/** The heading of the page. */
export const heading = async (page: Page): Promise<string | null> =>
  page.getByRole('heading').textContent();
