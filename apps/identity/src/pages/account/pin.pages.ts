import { ChangePin, NewPin, PasswordOfPin } from '../../features/pin/pin.schema.ts';
import type { PinService, PinStatus } from '../../features/pin/pin.service.ts';
import type { ReauthenticationService } from '../../features/reauthentication/reauthentication.service.ts';
import { type Content, html } from '../../http/html.ts';
import type { UserCaller } from '../../tokens/caller.ts';
import { type FieldSpec, fields, formOf, link, message, passwordConfirmation } from '../form.ts';
import type { AnyPage } from '../page.ts';
import { waiting } from '../texts/waiting.ts';
import { Redirect, type Visit } from '../visit.ts';
import { accountPage } from './account-page.ts';
import { authenticateByForm } from './password-given.ts';
import { sections } from './sections.ts';
import { timesFor } from './times.ts';

interface Dependencies {
  readonly pins: PinService;
  readonly reauthentication: ReauthenticationService;
}

interface PinData {
  readonly user: UserCaller;
  readonly status: PinStatus;
}

const addresses = {
  change: `${sections.pin}/change`,
  remove: `${sections.pin}/remove`,
} as const;

const digits = {
  type: 'password',
  // A PIN filled in by a password manager would not be a second thing to know.
  autocomplete: 'off',
  inputmode: 'numeric',
  maxlength: 6,
} as const;

const newPinFields = ({ texts }: Visit): readonly FieldSpec[] => [
  { name: 'pin', ...digits, label: texts.account.pin.newPin, hint: texts.account.pin.rules },
  { name: 'pin_confirmation', ...digits },
];

const lockNotice = (visit: Visit, { lockedFor }: PinStatus): Content =>
  lockedFor !== null &&
  html`<div class="notice wrong" role="status">${visit.texts.account.pin.locked(waiting(visit.language, lockedFor))}</div>`;

/** Pages to set, change and remove the PIN. */
export const pinPages = ({ pins, reauthentication }: Dependencies): Record<string, AnyPage> => {
  const open = async (_visit: Visit, user: UserCaller): Promise<PinData> => ({
    user,
    status: await pins.status(user),
  });
  /** Redirects if there is no PIN to change or remove. */
  const openSet = async (visit: Visit, user: UserCaller): Promise<PinData> => {
    const owned = await open(visit, user);
    if (owned.status.since === null) throw new Redirect(sections.pin);
    return owned;
  };

  const pin = accountPage({
    section: 'pin',
    path: sections.pin,
    limit: 'password',
    hasSensitiveForm: true,
    open,
    view(visit, { user, status }, form) {
      const { pin: texts } = visit.texts.account;
      if (status.since === null) {
        const content = fields(visit, form, newPinFields(visit), 'wrong');
        return {
          title: texts.title,
          lead: texts.lead,
          body: formOf(visit, form, { submit: texts.set, content }),
        };
      }
      const since = timesFor(visit.language, user.timeZone).date(status.since);
      return {
        title: texts.title,
        lead: texts.isOn,
        hasNoForm: true,
        body: [
          message(visit, form),
          lockNotice(visit, status),
          html`<dl class="facts"><div><dt>${texts.since}</dt><dd>${since}</dd></div></dl>
<p class="choices"><a class="button" href="${addresses.change}">${texts.goToChange}</a>
<a class="button danger" href="${addresses.remove}">${texts.goToRemove}</a></p>`,
        ],
      };
    },
    form: {
      fields: NewPin.fields,
      async submit(visit, given, { user }) {
        const { pin, pin_confirmation: confirmation } = given;
        await pins.set(user, { pin, confirmation }, visit.origin);
        return `${sections.pin}?notice=pin_set`;
      },
    },
  });

  const change = accountPage({
    section: 'pin',
    path: addresses.change,
    limit: 'pin',
    hasSensitiveForm: true,
    open: openSet,
    view(visit, { status }, form) {
      const { change: texts } = visit.texts.account.pin;
      const specs = [{ name: 'current_pin', ...digits } as const, ...newPinFields(visit)];
      return {
        title: texts.title,
        lead: texts.lead,
        body: [
          form.alert === undefined && lockNotice(visit, status),
          formOf(visit, form, { submit: texts.submit, content: fields(visit, form, specs) }),
          link(addresses.remove, texts.forgotten),
        ],
      };
    },
    form: {
      fields: ChangePin.fields,
      async submit(visit, given, { user }) {
        const { current_pin: current, pin, pin_confirmation: confirmation } = given;
        await pins.change(user, { current, pin, confirmation }, visit.origin);
        return `${sections.pin}?notice=pin_changed`;
      },
    },
  });

  const remove = accountPage({
    section: 'pin',
    path: addresses.remove,
    limit: 'password',
    hasSensitiveForm: true,
    open: openSet,
    view(visit, { user }, form) {
      const { remove: texts } = visit.texts.account.pin;
      return {
        title: texts.title,
        lead: texts.lead,
        body: formOf(visit, form, {
          submit: texts.submit,
          isDangerous: true,
          content: passwordConfirmation(visit, form, user.email),
          beside: html`<a href="${sections.pin}">${texts.keep}</a>`,
        }),
      };
    },
    form: {
      fields: PasswordOfPin.fields,
      async submit(visit, { password }, { user }) {
        await authenticateByForm(reauthentication, user, password, visit.origin);
        await pins.disable(user, password, visit.origin);
        return `${sections.pin}?notice=pin_removed`;
      },
    },
  });

  return { accountPin: pin, accountPinChange: change, accountPinRemoval: remove };
};
