import { oneOf } from '@tessera/fields';
import { HttpError } from '@tessera/http-kit';
import { code } from '../../features/two-factor/two-factor.schema.ts';
import type { AppSecret, TwoFactorService } from '../../features/two-factor/two-factor.service.ts';
import { type Html, html } from '../../http/html.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import { assets } from '../assets.ts';
import { checkbox, fields, formOf } from '../form.ts';
import type { AnyPage } from '../page.ts';
import { Redirect, type Visit } from '../visit.ts';
import { accountPage } from './account-page.ts';
import { sections } from './sections.ts';
import type { ShownCodes } from './shown-codes.ts';
import { twoFactorAddresses as addresses } from './two-factor.addresses.ts';

interface Dependencies {
  readonly twoFactor: TwoFactorService;
  readonly shownCodes: ShownCodes;
  readonly brandName: string;
}

/** In readable groups; copying the text yields no spaces. */
const groups = (secret: string): Html[] =>
  (secret.match(/.{1,4}/g) ?? []).map((group) => html`<span>${group}</span>`);

const appSecret = (
  { texts }: Visit,
  { qrCode, secret, uri }: AppSecret,
  { email, id }: UserCaller,
): Html => {
  const { setUp } = texts.account.twoFactor;
  return html`<h2>1. ${setUp.scan}</h2>
<p><img class="qr" src="${qrCode}" alt="${setUp.qrCode}" width="220" height="220"></p>
<details><summary>${setUp.cannotScan}</summary>
<p><a href="${uri}">${setUp.openApp}</a></p>
<p>${setUp.byHand}</p>
<dl class="facts">
<div><dt>${setUp.account}</dt><dd>${email ?? id}</dd></div>
<div><dt>${setUp.key}</dt><dd><code class="secret">${groups(secret)}</code></dd></div>
</dl>
<p class="hint">${setUp.kind}</p>
</details>
<h2>2. ${setUp.enter}</h2>`;
};

/** A download as a data URL, which needs no script and is not stored on the server. */
const download = ({ texts }: Visit, title: string, codes: readonly string[]): Html => {
  const { codes: words } = texts.account.twoFactor;
  const content = [title, words.once, '', ...codes, ''].join('\r\n');
  const address = `data:text/plain;charset=utf-8,${encodeURIComponent(content)}`;
  return html`<a class="button plain small" href="${address}" download="${words.fileName}.txt">${words.download}</a>`;
};

/** The steps to enable two-factor authentication: secret and first code, then recovery codes. */
export const enrolmentPages = (use: Dependencies): Record<string, AnyPage> => {
  /**
   * Where to go if there is nothing to confirm. The form may have been sent twice, and the first answer, with the
   * recovery codes, may not have reached the browser: then only new codes help.
   */
  const addressWithoutSecret = async (visit: Visit, user: UserCaller): Promise<string> => {
    const { since } = await use.twoFactor.status(user);
    const mayBeLost =
      visit.req.method === 'POST' &&
      since !== null &&
      (await use.shownCodes.of(visit, user)) === null;
    return mayBeLost ? `${addresses.replace}?notice=recovery_codes_unseen` : sections.twoFactor;
  };

  const setUp = accountPage({
    section: 'twoFactor',
    path: addresses.setUp,
    isSensitive: true,
    async open(visit, user) {
      const secret = await use.twoFactor.pending(user);
      if (!secret) throw new Redirect(await addressWithoutSecret(visit, user));
      return { user, secret };
    },
    view(visit, { user, secret }, form) {
      const { setUp: texts } = visit.texts.account.twoFactor;
      const field = {
        name: 'code',
        autocomplete: 'one-time-code',
        inputmode: 'numeric',
        maxlength: 10,
        hint: texts.hint,
      } as const;
      return {
        title: texts.title,
        body: [
          appSecret(visit, secret, user),
          formOf(visit, form, {
            submit: texts.submit,
            content: fields(visit, form, [field], 'wrong'),
            beside: html`<a href="${sections.twoFactor}">${texts.cancel}</a>`,
          }),
        ],
      };
    },
    form: {
      fields: { code },
      async submit(visit, given, { user }) {
        const codes = await use.twoFactor
          .confirmWithCodes(user, given.code, visit.origin)
          .catch(async (error: unknown) => {
            const isConfirmed = error instanceof HttpError && error.status === 409;
            throw isConfirmed ? new Redirect(await addressWithoutSecret(visit, user)) : error;
          });
        use.shownCodes.keep(visit, user, codes);
        return `${addresses.codes}?notice=two_factor_on`;
      },
    },
  });

  const codes = accountPage({
    section: 'twoFactor',
    path: addresses.codes,
    isSensitive: true,
    async open(visit, user) {
      const shown = await use.shownCodes.of(visit, user);
      if (!shown) throw new Redirect(sections.twoFactor);
      return { user, shown };
    },
    view(visit, { user, shown }, form) {
      const { texts } = visit;
      const { codes: words } = texts.account.twoFactor;
      const title = words.file(use.brandName, user.email ?? user.id);
      return {
        title: words.title,
        lead: words.lead,
        body: [
          html`<p class="printed">${title}</p>
<ul class="codes" id="codes" aria-label="${words.list}">${shown.map((each) => html`<li>${each}</li>`)}</ul>
<p class="printed">${words.once}</p>
<div class="code-tools" data-copy="${words.copy}" data-copied="${words.copied}" data-print="${words.print}">${download(visit, title, shown)}<span class="unseen" role="status"></span></div>
<script src="${assets.recoveryCodes.address}" defer></script>
<p class="hint">${words.advice}</p>`,
          formOf(visit, form, {
            submit: words.submit,
            content: html`<div class="row">${checkbox(form, 'saved', texts.labels.saved)}</div>`,
          }),
        ],
      };
    },
    form: {
      fields: { saved: oneOf('true') },
      submit(visit) {
        use.shownCodes.forget(visit);
        return `${sections.twoFactor}?notice=recovery_codes_saved`;
      },
    },
  });

  return { twoFactorSetUp: setUp, recoveryCodes: codes };
};
