import type { FieldErrors } from '@tessera/fields';
import { HttpError } from '@tessera/http-kit';
import { pinProblems } from '../features/pin/pin.service.ts';
import { WRONG_PASSWORD } from '../features/sign-in/password-confirmation.ts';
import {
  brokenForm,
  messageOfRule,
  normalisedPassword,
  ruleOfMessage,
} from '../passwords/password-rules.ts';
import type { FieldName, FormState } from './form.ts';
import { alertOfTenant } from './tenant-state.ts';
import type { Texts } from './texts/texts.ts';
import type { Visit } from './visit.ts';

/** Statuses of errors that are shown in the form; all others get an error page. */
const FORM_ERROR_STATUSES = new Set([401, 403, 409, 422, 429, 503]);

const alertOf = (error: HttpError, texts: Texts): string | undefined => {
  const { alerts, failure } = texts;
  if (error.status === 503) return failure.unavailable;
  switch (error.code) {
    case 'invalid_credentials':
      return alerts.credentials;
    case 'rate_limited':
      return alerts.tooMany(Number(error.headers['Retry-After'] ?? 60));
    case 'forged_request':
      return alerts.forged;
    case 'tenant_suspended':
      return alertOfTenant(texts, error);
    case 'address_taken':
      return alerts.addressTaken;
    case 'last_owner':
      return alerts.lastOwner;
    case 'conflict':
      return alerts.conflict;
    default:
      return undefined;
  }
};

/** Names of fields with a new password; each has a `_confirmation` field. */
export type NewPasswordField = 'password' | 'new_password';

/** Errors of a new password and its confirmation that can be found without other data. */
export const newPasswordErrors = (
  field: NewPasswordField,
  values: FormState['values'],
  minLength: number,
): FieldErrors => {
  const given = values[field] ?? '';
  const confirmation = values[`${field}_confirmation`] ?? '';
  const problems = brokenForm(given, minLength).map((rule) => messageOfRule(rule, minLength));
  const errors: FieldErrors = {};
  if (problems.length > 0) errors[field] = problems;
  if (normalisedPassword(given) !== normalisedPassword(confirmation)) {
    errors[`${field}_confirmation`] = [`it must be the same as ${field}`];
  }
  return errors;
};

/** Messages of services that have specific texts, instead of the generic text of the field. */
const SPECIFIC_REASONS: Readonly<Record<string, keyof Texts['reasons']>> = {
  [`password ${WRONG_PASSWORD}`]: 'wrong_password',
  [`current_pin ${pinProblems.wrong}`]: 'wrong_pin',
  [`pin ${pinProblems.repeated}`]: 'pin_repeated',
  [`pin ${pinProblems.run}`]: 'pin_run',
  [`pin ${pinProblems.unchanged}`]: 'pin_unchanged',
};

/** Services report errors in English for programs; this translates them for the visitor. */
export const stateAfter = (
  { texts }: Visit,
  error: unknown,
  values: FormState['values'],
  minLength: number,
): { readonly state: FormState; readonly refusal: HttpError } => {
  if (!(error instanceof HttpError) || !FORM_ERROR_STATUSES.has(error.status)) throw error;
  const errorsOf = (name: string): readonly string[] => {
    const { too_short, ...others } = texts.rules;
    const rules = (error.errors?.[name] ?? []).map((message) => ruleOfMessage(message, minLength));
    const broken = rules.filter((rule) => rule !== undefined);
    if (broken.length > 0 && values[name]) {
      return broken.map((rule) => (rule === 'too_short' ? too_short(minLength) : others[rule]));
    }
    const reasons = (error.errors?.[name] ?? [])
      .map((message) => SPECIFIC_REASONS[`${name} ${message}`])
      .filter((reason) => reason !== undefined);
    if (reasons.length > 0 && values[name]) return reasons.map((reason) => texts.reasons[reason]);
    return [
      Object.hasOwn(texts.problems, name)
        ? texts.problems[name as FieldName]
        : texts.problems.other,
    ];
  };
  const named = Object.keys(error.errors ?? {});
  const isShown = (name: string): name is FieldName => Object.hasOwn(texts.labels, name);
  const errors = Object.fromEntries(named.filter(isShown).map((name) => [name, errorsOf(name)]));
  const others = named.filter((name) => !isShown(name)).map((name) => errorsOf(name).join(' '));
  const alert =
    alertOf(error, texts) ?? others[0] ?? (named.length > 1 ? texts.alerts.fields : undefined);
  if (alert === undefined && named.length === 0) throw error;
  const isLinkInvalid = named.includes('token');
  return { state: { values, errors, alert, isLinkInvalid }, refusal: error };
};
