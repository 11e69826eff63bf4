import { ChangePassword } from '../features/passwords/passwords.schema.ts';
import type { PasswordsService } from '../features/passwords/passwords.service.ts';
import type { Content } from '../http/html.ts';
import type { UserCaller } from '../tokens/caller.ts';
import { accountName, type FormState, fields } from './form.ts';
import { newPasswordFields } from './rule-list.ts';
import type { Visit } from './visit.ts';

/** The form that changes a known password. */
export const passwordChange = {
  fields: ChangePassword.fields,
  newPassword: 'new_password',
} as const;

export const passwordChangeFields = (
  visit: Visit,
  user: UserCaller,
  form: FormState,
  minLength: number,
): Content => [
  accountName(user.email),
  fields(visit, form, [
    { name: 'current_password', type: 'password', autocomplete: 'current-password' },
    ...newPasswordFields(visit, minLength, 'new_password'),
  ]),
];

interface PasswordChangeForm {
  readonly current_password: string;
  readonly new_password: string;
  readonly new_password_confirmation: string;
}

/** Changes the password as the JSON route does. */
export const changePassword = (
  passwords: Pick<PasswordsService, 'change'>,
  user: UserCaller,
  given: PasswordChangeForm,
  { origin }: Visit,
): Promise<void> => {
  const change = {
    current: given.current_password,
    password: given.new_password,
    confirmation: given.new_password_confirmation,
  };
  return passwords.change(user, change, origin);
};
