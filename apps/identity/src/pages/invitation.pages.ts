import { AcceptInvitation } from '../features/registration/invitations.schema.ts';
import type {
  InvitationsService,
  ShownInvitation,
} from '../features/registration/invitations.service.ts';
import { html } from '../http/html.ts';
import { accountName, fields, formOf, message } from './form.ts';
import { type AnyPage, page } from './page.ts';
import { nameFields } from './person.fields.ts';
import { restrictionPages } from './restriction-pages.ts';
import { resultAddress } from './result.page.ts';
import { newPasswordFields } from './rule-list.ts';
import { pageAddress, Redirect, type Visit } from './visit.ts';

interface Dependencies {
  readonly invitations: InvitationsService;
  readonly issuer: string;
  /** Minimum length of a new password. */
  readonly minLength: number;
}

/** Whether the signed-in user is the invited one. */
const isInvited = ({ user }: Visit, { userId }: ShownInvitation): boolean =>
  user !== null && user.id === userId;

/**
 * The page of an invitation: create an account, or sign in to the account with the address (decision I21).
 */
export const invitationPages = (use: Dependencies): Record<string, AnyPage> => {
  const { invitations, issuer, minLength } = use;

  /** URL of this page, for the return from sign-in. */
  const returnTo = (token: string): string =>
    `${issuer}/invitations/accept?${new URLSearchParams({ token })}`;

  const { token: _token, ...acceptance } = AcceptInvitation.fields;
  const invitation = page({
    path: '/invitations/accept',
    limit: 'public',
    async open(visit) {
      const { token = '' } = visit.query;
      const invitation = await invitations.show(token);
      const back = { returnTo: returnTo(token), next: null };
      const first = visit.user?.restriction && restrictionPages[visit.user.restriction];
      if (first && invitation.asks === 'sign_in' && isInvited(visit, invitation)) {
        throw new Redirect(pageAddress(back, first));
      }
      return { token, invitation, signIn: pageAddress(back, '/sign-in') };
    },
    view(visit, { invitation, signIn }, form) {
      const { invitation: texts, signIn: signInTexts } = visit.texts;
      const title = texts.title(invitation.tenant);
      const lead = texts.lead(invitation.email);
      if (invitation.asks === 'name_and_password') {
        return {
          title,
          lead,
          body: formOf(visit, form, {
            submit: texts.submit,
            content: [
              html`<p>${texts.choose}</p>`,
              accountName(invitation.email),
              fields(visit, form, [
                ...nameFields(visit, invitation),
                ...newPasswordFields(visit, minLength),
              ]),
            ],
          }),
        };
      }
      if (isInvited(visit, invitation)) {
        return { title, lead, body: formOf(visit, form, { submit: texts.submit }) };
      }
      const { user } = visit;
      return {
        title,
        lead,
        hasNoForm: true,
        body: [
          message(visit, form),
          html`<p>${user ? texts.other(user.email ?? user.firstName, invitation.email) : texts.signIn}</p>`,
          html`<p><a class="button" href="${signIn}">${signInTexts.title}</a></p>`,
        ],
      };
    },
    form: {
      fields: acceptance,
      newPassword: 'password',
      async submit(visit, given, { token, invitation }) {
        if (invitation.asks === 'sign_in' && !isInvited(visit, invitation)) {
          // The page then has a link to the sign-in. A redirect after a form could not leave this service.
          throw new Redirect(`${visit.req.path}?${new URLSearchParams({ token })}`);
        }
        const acceptance = {
          firstName: given.first_name,
          lastName: given.last_name,
          password: given.password,
          confirmation: given.password_confirmation,
        };
        await invitations.accept(token, acceptance, {
          origin: visit.origin,
          locale: visit.language,
          caller: visit.user,
        });
        return invitation.asks === 'sign_in'
          ? '/account?notice=invitation_joined'
          : resultAddress(visit, 'invitation_accepted', invitation.userId);
      },
    },
  });

  return { invitation };
};
