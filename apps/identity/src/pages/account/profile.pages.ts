import { oneOf, optional } from '@tessera/fields';
import { validationFailed } from '@tessera/http-kit';
import type { EmailChangeService } from '../../features/email-change/email-change.service.ts';
import { DEADLINE_MS, MAX_BYTES, pictureTypes } from '../../features/picture/picture.image.ts';
import type { PictureService } from '../../features/picture/picture.service.ts';
import { profileFormFields } from '../../features/profile/profile.schema.ts';
import type { ProfileService } from '../../features/profile/profile.service.ts';
import { html } from '../../http/html.ts';
import { type FieldSpec, fields, formOf, link, message } from '../form.ts';
import type { AnyPage } from '../page.ts';
import { nameFields } from '../person.fields.ts';
import { languages } from '../texts/texts.ts';
import { setLanguageCookie, type Visit } from '../visit.ts';
import { accountPage } from './account-page.ts';
import { pendingEmail } from './email.pages.ts';
import { pictureOf } from './picture.ts';
import { sections } from './sections.ts';
import { timeZoneChoices } from './time-zones.ts';

interface Dependencies {
  readonly profiles: ProfileService;
  readonly pictures: PictureService;
  readonly emailChanges: EmailChangeService;
}

const PICTURE = '/account/profile/picture';

/**
 * Pages for names, language, time zone, phone number and picture, with a link to change the email address.
 */
export const profilePages = (use: Dependencies): Record<string, AnyPage> => {
  const { profiles, pictures, emailChanges } = use;

  const choices = (
    { texts }: Visit,
    user: { readonly locale: string; readonly timezone: string; readonly phone: string | null },
  ): readonly FieldSpec[] => [
    {
      name: 'locale',
      autocomplete: 'language',
      value: user.locale,
      choices: [{ choices: languages.map(({ language, name }) => [language, name] as const) }],
      hint: texts.account.profile.languageHint,
    },
    {
      name: 'timezone',
      autocomplete: 'off',
      value: user.timezone,
      choices: timeZoneChoices(texts.account.profile.regions, user.timezone),
      hint: texts.account.profile.timeZoneHint,
    },
    {
      name: 'phone',
      type: 'tel',
      autocomplete: 'tel',
      isOptional: true,
      maxlength: 50,
      value: user.phone ?? '',
      hint: texts.account.profile.optional,
    },
  ];

  const profile = accountPage({
    section: 'profile',
    path: sections.profile,
    open: async (_visit, caller) => ({
      caller,
      user: await profiles.show(caller),
      pending: await emailChanges.pending(caller),
    }),
    view(visit, { user, pending }, form) {
      const { profile: texts } = visit.texts.account;
      return {
        title: texts.title,
        lead: texts.lead,
        body: [
          message(visit, form),
          html`<div class="person">
${pictureOf(visit, user, texts.pictureAlt)}
<dl class="facts">
<div><dt>${texts.picture}</dt><dd><a href="${PICTURE}">${texts.changePicture}</a></dd></div>
<div><dt>${visit.texts.labels.email}</dt><dd>${user.email ?? ''}<br><a href="/account/profile/email">${texts.changeEmail}</a></dd></div>
</dl>
</div>`,
          pending && pendingEmail(visit, user, pending),
          formOf(visit, form, {
            submit: texts.submit,
            isMessageElsewhere: true,
            content: fields(visit, form, [...nameFields(visit, user), ...choices(visit, user)]),
          }),
        ].filter((part) => part !== null),
      };
    },
    form: {
      fields: profileFormFields,
      async submit(visit, given, { caller, user }) {
        const { first_name: firstName, last_name: lastName, phone, timezone, locale } = given;
        const change = { firstName, lastName, phone: phone || null, timezone, locale };
        await profiles.change(caller, change, visit.origin);
        if (locale !== user.locale) setLanguageCookie(visit.res, locale);
        return `${sections.profile}?notice=profile_saved`;
      },
    },
  });

  const picture = accountPage({
    section: 'profile',
    path: PICTURE,
    open: async (_visit, caller) => ({ caller, user: await profiles.show(caller) }),
    view(visit, { user }, form) {
      const { profile: texts } = visit.texts.account;
      return {
        title: texts.picture,
        lead: texts.pictureLead,
        body: [
          pictureOf(visit, user, texts.pictureAlt),
          formOf(visit, form, {
            submit: texts.upload,
            isUpload: true,
            content: fields(visit, form, [
              {
                name: 'picture',
                type: 'file',
                autocomplete: 'off',
                accept: pictureTypes,
                hint: texts.pictureHint,
              },
            ]),
          }),
          user.avatarUrl !== null &&
            html`<form method="post">
<input type="hidden" name="form_token" value="${visit.formToken}">
<button type="submit" class="danger" name="action" value="remove">${texts.removePicture}</button>
</form>`,
          link(sections.profile, texts.back),
        ],
      };
    },
    form: {
      fields: { action: optional(oneOf('remove')) },
      file: {
        name: 'picture',
        maxBytes: MAX_BYTES,
        deadlineMs: DEADLINE_MS,
        begin: ({ caller }, announcedSize) => pictures.begin(caller, announcedSize),
      },
      async submit(visit, { action }, { caller }, file) {
        if (action === 'remove') {
          await pictures.remove(caller, visit.origin);
          return `${sections.profile}?notice=picture_removed`;
        }
        if (file === null) throw validationFailed({ picture: ['picture is required'] });
        await pictures.set(caller, file, visit.origin);
        return `${sections.profile}?notice=picture_saved`;
      },
    },
  });

  return { accountProfile: profile, accountPicture: picture };
};
