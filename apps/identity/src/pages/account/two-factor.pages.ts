import { LOW_CODES } from '../../features/two-factor/two-factor.schema.ts';
import type { TwoFactorService } from '../../features/two-factor/two-factor.service.ts';
import { type Content, html } from '../../http/html.ts';
import { duration } from '../../mail/texts/format.ts';
import { formOf, message } from '../form.ts';
import type { AnyPage } from '../page.ts';
import { Redirect, type Visit } from '../visit.ts';
import { accountPage } from './account-page.ts';
import { sections } from './sections.ts';
import type { ShownCodes } from './shown-codes.ts';
import { timesFor } from './times.ts';
import { twoFactorAddresses as addresses } from './two-factor.addresses.ts';

interface Dependencies {
  readonly twoFactor: TwoFactorService;
  readonly shownCodes: ShownCodes;
  /** How long a device is trusted, in seconds. */
  readonly deviceTrust: number;
}

const warning = ({ texts }: Visit, codesLeft: number): Content => {
  const { noCodes, runningLow } = texts.account.twoFactor;
  if (codesLeft > LOW_CODES) return false;
  return html`<ul class="attention"><li>${codesLeft === 0 ? noCodes : runningLow}</li></ul>`;
};

/** The status of two-factor authentication and its actions. */
export const twoFactorPages = (use: Dependencies): Record<string, AnyPage> => ({
  accountTwoFactor: accountPage({
    section: 'twoFactor',
    path: sections.twoFactor,
    hasSensitiveForm: true,
    async open(visit, user) {
      const status = await use.twoFactor.status(user);
      // Users who have not confirmed saving their codes return to them.
      if (status.since && (await use.shownCodes.of(visit, user))) {
        throw new Redirect(addresses.codes);
      }
      return { user, status };
    },
    view(visit, { user, status: { since, codesLeft } }, form) {
      const { twoFactor: texts } = visit.texts.account;
      const { title } = texts;
      if (since === null) {
        const content = html`<p>${texts.needs}</p>`;
        return {
          title,
          lead: texts.offLead,
          body: formOf(visit, form, { submit: texts.begin, content }),
        };
      }
      const time = duration(visit.language, use.deviceTrust);
      return {
        title,
        lead: texts.onLead,
        hasNoForm: true,
        body: [
          message(visit, form),
          warning(visit, codesLeft),
          html`<dl class="facts">
<div><dt>${texts.since}</dt><dd>${timesFor(visit.language, user.timeZone).date(since)}</dd></div>
<div><dt>${texts.codesLeft}</dt><dd>${codesLeft}</dd></div>
</dl>
<p class="hint">${texts.trusted(time)} <a href="${sections.devices}">${texts.seeDevices}</a></p>
<p class="choices"><a class="button" href="${addresses.replace}">${texts.newCodes}</a>
<a class="button danger" href="${addresses.turnOff}">${texts.remove}</a></p>`,
        ],
      };
    },
    form: {
      fields: {},
      async submit(_visit, _nothing, { user }) {
        await use.twoFactor.enable(user);
        return addresses.setUp;
      },
    },
  }),
});
