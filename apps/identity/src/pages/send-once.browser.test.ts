import type { Page } from 'playwright-core';
import { openBrowser, type TestBrowser } from '../testing/browser.ts';
import { enterCredentials, sees, startSite, type TestSite } from '../testing/pages.ts';

let site: TestSite;
let browser: TestBrowser;
let page: Page;
beforeAll(async () => {
  [site, browser] = await Promise.all([startSite(), openBrowser()]);
});
afterAll(async () => {
  await browser.close();
  await site.stop();
});
beforeEach(async () => {
  const user = await site.identity.people.user({ tenant: await site.identity.people.tenant() });
  page = await browser.newPerson();
  await page.goto(`${site.url}/account/data/download`);
  await enterCredentials(page, user);
  await sees(page, 'Download your data');
});
afterEach(() => expect(browser.complaints()).toEqual([]));

/** What becomes of each press of a button, while nothing answers: whether its form is sent. */
const pressed = (button: string, times: number): Promise<boolean[]> =>
  page.evaluate(`(() => {
    const sent = [];
    // After the listeners of the page.
    const hold = (event) => {
      sent.push(!event.defaultPrevented);
      event.preventDefault();
    };
    window.addEventListener('submit', hold);
    for (let i = 0; i < ${times}; i += 1) document.querySelector('${button}').click();
    window.removeEventListener('submit', hold);
    return sent;
  })()`);

test('a form is sent once while its answer is awaited, and again after going back', async () => {
  const signOut = 'form[action="/sign-out"] button[type=submit]';
  expect(await pressed(signOut, 3)).toEqual([true, false, false]);
  expect(await pressed(signOut, 1)).toEqual([false]);
  await page.evaluate("window.dispatchEvent(new Event('pageshow'))");
  expect(await pressed(signOut, 2)).toEqual([true, false]);
});

test('a form that is answered with a file can be sent again', async () => {
  expect(await pressed('#form .actions button', 2)).toEqual([true, true]);
});
