import { Forms } from '../testing/forms.ts';
import { startRegistration } from '../testing/registration.ts';

const NEW = 'Another-horse-8-battery';
const names = { first_name: 'Nora', last_name: 'Neu' };
const password = { password: NEW, password_confirmation: NEW };
const BAD_LINK = 'This link is invalid or has expired.';

const { identity, mailbox } = await startRegistration();
const forms = new Forms(identity);
let unique = 0;

const address = (): string => {
  unique += 1;
  return `mailed-${unique}@example.test`;
};
const linkTo = async (kind: string, email: string): Promise<string> => {
  const { pathname, search } = (await mailbox.next(kind, email)).link;
  return pathname + search;
};
const claimed = async (email = address()) => {
  const form = { ...names, ...password, email, tenant_name: 'Neu' };
  await identity.http.post('/api/auth/register').send(form).expect(202);
  return { email, link: await linkTo('email_verification', email) };
};
const invited = async (email = address()) => {
  const tenant = await identity.people.tenant({ name: 'Acme' });
  const owner = await identity.people.caller(tenant, '*');
  await identity.http
    .post(`/api/tenants/${tenant.id}/members`)
    .set(owner)
    .send({ email, role: 'member' })
    .expect(202);
  return { email, tenant, link: await linkTo('invitation', email) };
};
const stranger = async () => forms.signIn((await identity.people.user()).email);
const read = async (path: string, cookie = ''): Promise<string> =>
  (await identity.http.get(path).set('cookie', cookie).expect(200)).text;
/** The fields marked as invalid, in page order. */
const wrongFields = (page: string): string[] =>
  [...page.matchAll(/name="(\w+)"[^>]*aria-invalid="true"/g)].map(([, name]) => name ?? '');

describe('the page of an invitation', () => {
  test('changes its language with links if it has no form', async () => {
    const { link } = await invited((await identity.people.user()).email ?? '');
    for (const cookie of ['', await stranger()]) {
      const page = await read(link, cookie);
      expect(page).toMatch(/<a [^>]*href="[^"]*ui_locales=hu/);
      expect(page).not.toContain('form="form"');
    }
  });

  test('shows the errors of all fields at once', async () => {
    const { link } = await invited();
    const given = { first_name: '', last_name: '', password: 'short', password_confirmation: 'x' };
    const answer = await forms.send(link, await forms.open(link), given);
    expect(wrongFields(answer.text)).toEqual([
      'first_name',
      'last_name',
      'password',
      'password_confirmation',
    ]);
  });

  test('asks to sign in if the person has made an account meanwhile', async () => {
    const { email, link } = await invited();
    const form = await forms.open(link);
    await identity.people.user({ data: { email } });
    const answer = await forms.send(link, form, { ...names, ...password });
    expect([answer.status, answer.headers.location]).toEqual([303, link]);
    expect(await read(link)).toContain('href="/sign-in?return_to=');
  });

  test.each([
    ['suspended', 'This organization is suspended.'],
    ['provisioning', 'This organization is still being set up.'],
    ['failed', 'This organization could not be set up yet.'],
    ['deleting', 'This organization is being deleted.'],
  ])('says why the organization cannot be joined: %s', async (status, alert) => {
    const { link, tenant } = await invited();
    const form = await forms.open(link);
    const { database } = identity.context;
    await database.tenant.update({ where: { id: tenant.id }, data: { status } });
    const answer = await forms.send(link, form, { ...names, ...password });
    expect([answer.status, answer.text]).toEqual([
      403,
      expect.stringContaining(`role="alert">${alert}`),
    ]);
  });

  test('does not lead into the account of another signed-in user', async () => {
    const { link } = await invited();
    const cookie = await stranger();
    const answer = await forms.send(link, await forms.open(link, cookie), {
      ...names,
      ...password,
    });
    expect(answer.headers.location).toBe('/result?notice=invitation_accepted');
    const page = await read('/result?notice=invitation_accepted', cookie);
    expect(page).toContain('You have joined the organization. Sign in to get started.');
    expect(page).toContain('You are still signed in as');
  });
});

describe('the page that confirms an address', () => {
  test('shows the address, and has the account name for password managers', async () => {
    const { email, link } = await claimed();
    const page = await read(link);
    expect(page).toContain(`Someone signed up with ${email}`);
    expect(page).toMatch(new RegExp(`name="username"[^>]*value="${email}"`));
  });

  test('shows the address in the session of the account', async () => {
    const user = await identity.people.user({ data: { emailVerifiedAt: null } });
    const email = user.email ?? '';
    const cookie = await forms.signIn(email);
    await identity.http.post('/api/auth/email/resend').send({ email }).expect(200);
    const link = await linkTo('email_verification', email);
    expect(await read(link, cookie)).toContain(`confirm that ${email} is your email address`);
    const answer = await forms.send(link, await forms.open(link, cookie), {});
    expect(answer.headers.location).toBe('/account?notice=email_verified');
  });

  test('shows the errors of all fields at once', async () => {
    const { link } = await claimed();
    const given = { first_name: '', password: 'short', password_confirmation: 'x' };
    const answer = await forms.send(link, await forms.open(link), given);
    expect(wrongFields(answer.text)).toEqual(['first_name', 'password', 'password_confirmation']);
  });

  test('does not lead into the account of another signed-in user', async () => {
    const { link } = await claimed();
    const cookie = await stranger();
    const answer = await forms.send(link, await forms.open(link, cookie), {
      ...names,
      ...password,
    });
    expect(answer.headers.location).toBe('/result?notice=email_verified');
  });
});

describe('the page that resets a password', () => {
  /** The link of a user who has forgotten the password. */
  const forgotten = async ({ email }: { readonly email: string | null }): Promise<string> => {
    await identity.http.post('/api/auth/password/forgot').send({ email }).expect(200);
    return linkTo('password_reset', email ?? '');
  };

  test('shows the address of the account, and nothing else that the URL contains', async () => {
    const { email } = await identity.people.user();
    const link = await forgotten({ email });
    const said = 'Your account is locked. Call 555 0100';
    const url = new URL(link, 'https://identity.test');
    url.searchParams.set('email', said);
    for (const path of [link, url.pathname + url.search, link.replace(/&email=[^&]*/, '')]) {
      const page = await read(path);
      expect(page).toContain(`For ${email}. You will be signed out on all devices.`);
      expect(page).toMatch(new RegExp(`name="username"[^>]*value="${email}"`));
      expect(page).not.toContain(said);
    }
  });

  const expectDead = async (path: string) => {
    for (const page of [
      await read(path),
      (await forms.send(path, await forms.open('/sign-in'), password)).text,
    ]) {
      expect(page).toContain(BAD_LINK);
      expect(page).toContain('href="/password/forgot">Request a new link');
      expect(page).not.toContain('type="password"');
    }
  };

  test('says that an unknown link is invalid, and leads to a new one', async () => {
    const said = 'Your account is locked. Call 555 0100';
    for (const token of ['x', '', said]) {
      const path = `/password/reset?${new URLSearchParams({ token, email: said })}`;
      await expectDead(path);
      expect(await read(path)).not.toContain(said);
    }
    await expectDead('/password/reset');
    await expectDead('/password/reset?token=a&token=b');
  });

  test('says the same of a used link, an expired one, and one of a deactivated account', async () => {
    const [used, expired, deactivated] = await Promise.all(
      [0, 1, 2].map(async () => {
        const user = await identity.people.user();
        return { user, link: await forgotten(user) };
      }),
    );
    if (!used || !expired || !deactivated) throw new Error('There are no links.');
    // Opening the link does not use it.
    await read(used.link);
    const form = await forms.open(used.link);
    expect((await forms.send(used.link, form, password)).status).toBe(303);
    await expectDead(used.link);
    const { database } = identity.context;
    await database.oneTimeToken.updateMany({
      where: { userId: expired.user.id },
      data: { expiresAt: new Date() },
    });
    await expectDead(expired.link);
    await database.user.update({ where: { id: deactivated.user.id }, data: { isActive: false } });
    await expectDead(deactivated.link);
  });

  test('keeps the form of a link that is used in another tab meanwhile from changing anything', async () => {
    const link = await forgotten(await identity.people.user());
    const [form, other] = [await forms.open(link), await forms.open(link)];
    expect((await forms.send(link, form, password)).status).toBe(303);
    const answer = await forms.send(link, other, password);
    expect([answer.status, answer.text]).toEqual([422, expect.stringContaining(BAD_LINK)]);
  });

  test('does not tell another signed-in user that their password has been changed', async () => {
    const link = await forgotten(await identity.people.user());
    const cookie = await stranger();
    const answer = await forms.send(link, await forms.open(link, cookie), password);
    expect(answer.headers.location).toBe('/result?notice=password_reset');
    const page = await read('/result?notice=password_reset', cookie);
    expect(page).toContain('Your password has been changed. Sign in with your new password.');
    expect(page).toContain('You are still signed in as');
  });

  test('leads the user, who is signed out by it, to the sign-in', async () => {
    const user = await identity.people.user();
    const [link, cookie] = [await forgotten(user), await forms.signIn(user.email)];
    const answer = await forms.send(link, await forms.open(link, cookie), password);
    expect(answer.headers.location).toBe('/sign-in?notice=password_reset');
    const page = await read('/sign-in?notice=password_reset', cookie);
    expect(page).toContain('Sign in with your new password.');
  });
});

describe('the page that deletes an account registered by somebody else', () => {
  test('shows the address, and that a used link is invalid', async () => {
    const { email, link } = await claimed();
    const path = link.replace('/email/verify', '/email/disown');
    expect(await read(path)).toContain(`Someone else signed up with ${email}`);
    const answer = await forms.send(path, await forms.open(path), {});
    expect(answer.headers.location).toBe('/sign-in?notice=account_disowned');
    const dead = await read(path);
    expect(dead).toContain(BAD_LINK);
    expect(dead).not.toContain('Delete account</button>');
  });

  test('says that a member’s account is kept', async () => {
    const tenant = await identity.people.tenant();
    const user = await identity.people.user({ tenant, data: { emailVerifiedAt: null } });
    const email = user.email ?? '';
    await identity.http.post('/api/auth/email/resend').send({ email }).expect(200);
    const link = await linkTo('email_verification', email);
    const path = link.replace('/email/verify', '/email/disown');
    const answer = await forms.send(path, await forms.open(path), {});
    expect(answer.headers.location).toBe('/sign-in?notice=account_signed_out');
    expect(await read('/sign-in?notice=account_signed_out')).toContain('we have not deleted it');
  });
});
