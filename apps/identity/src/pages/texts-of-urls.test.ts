import { CodeFlow, pkce } from '../testing/code-flow.ts';
import { Forms } from '../testing/forms.ts';
import { startRegistration } from '../testing/registration.ts';

const { identity, mailbox } = await startRegistration();
const forms = new Forms(identity);
const flow = new CodeFlow(identity);
const signedIn = await forms.signIn((await identity.people.user()).email);

const said = 'Your account is locked. Call 555 0100';
const names =
  'token email login_hint notice about reason request error error_description message title name return_to next ui_locales tenant entry by kind period page client_id redirect_uri state scope prompt nonce response_type code_challenge code_challenge_method'.split(
    ' ',
  );
const everything = new URLSearchParams(Object.fromEntries(names.map((name) => [name, said])));

/** What a person sees of a page: its texts and the values of its fields, but not where its links lead. */
const seen = (page: string): string => page.replaceAll(/ (?:href|action)="[^"]*"/g, '');

const show = async (path: string, cookie = ''): Promise<string> =>
  seen((await identity.http.get(path).set({ cookie, accept: 'text/html' }).redirects(0)).text);

test.each([
  '/',
  '/sign-in',
  '/two-factor',
  '/pin',
  '/select-account',
  '/continue',
  '/sign-out',
  '/signed-out',
  '/mail-sent',
  '/result',
  '/register',
  '/password/forgot',
  '/password/reset',
  '/password/change',
  '/email/verify',
  '/email/disown',
  '/email/resend',
  '/email/confirm',
  '/email/change',
  '/email/undo',
  '/invitations/accept',
  '/consent/x',
  '/account',
  '/account/profile',
  '/account/password',
  '/account/two-factor',
  '/account/two-factor/set-up',
  '/account/pin',
  '/account/devices',
  '/account/apps',
  '/account/activity',
  '/account/activity/not-me',
  '/account/tenants',
  '/account/tenants/leave',
  '/account/data',
  '/account/nothing',
  '/oauth/authorize',
  '/oauth/authorize/x',
  `/${encodeURIComponent(said)}`,
])('%s shows no text that is in its URL', async (path) => {
  expect(await show(`${path}?${everything}`, signedIn)).not.toContain(said);
  expect(await show(`${path}?${everything}`)).not.toContain(said);
  for (const name of ['token', 'notice', 'email', 'request', 'error_description']) {
    expect(await show(`${path}?${new URLSearchParams({ [name]: said })}`)).not.toContain(said);
  }
});

describe('the sign-in page', () => {
  const signInFor = (address: string): Promise<string> =>
    show(`/sign-in?${new URLSearchParams({ return_to: address })}`);
  const authorization = async (hint: string, changes: Record<string, string> = {}) => {
    const query = flow.query(await flow.client(), pkce().challenge, {
      login_hint: hint,
      ...changes,
    }) as Record<string, string>;
    return `https://identity.test/oauth/authorize?${new URLSearchParams(query)}`;
  };

  test('prefills the address that a registered application suggests, and no other text', async () => {
    expect(await signInFor(await authorization('ada@example.test'))).toContain(
      'value="ada@example.test"',
    );
    for (const hint of [said, `${said} ada@example.test`, '"locked"@example.test', '<b>x</b>']) {
      const page = await signInFor(await authorization(hint));
      expect(page).toContain('name="email"');
      expect(page).not.toMatch(/name="email"[^>]* value=/);
    }
  });

  test('prefills nothing for an unknown application or another redirect URI', async () => {
    for (const changes of [{ client_id: 'nobody' }, { redirect_uri: 'https://evil.test/' }]) {
      const page = await signInFor(await authorization('ada@example.test', changes));
      expect(page).not.toContain('ada@example.test');
    }
  });

  test('prefills the address of an invitation, whatever the URL says', async () => {
    const { email } = await identity.people.user();
    const tenant = await identity.people.tenant();
    const owner = await identity.people.caller(tenant, '*');
    await identity.http
      .post(`/api/tenants/${tenant.id}/members`)
      .set(owner)
      .send({ email, role: 'member' })
      .expect(202);
    const { link } = await mailbox.next('invitation', email ?? '');
    for (const hint of ['', '&login_hint=eve@example.test']) {
      const page = await signInFor(`https://identity.test${link.pathname}${link.search}${hint}`);
      expect(page).toContain(`value="${email}"`);
    }
    const unknown = 'https://identity.test/invitations/accept?token=x&login_hint=eve@example.test';
    expect(await signInFor(unknown)).not.toContain('eve@example.test');
  });
});
