import type { FieldSpec } from './form.ts';
import type { Visit } from './visit.ts';

/** Initial values of the fields. */
interface InitialNames {
  readonly firstName?: string;
  readonly lastName?: string;
}

/** First and last name, in the order of the visitor's language. */
export const nameFields = (
  { texts: { isFamilyNameFirst } }: Visit,
  { firstName, lastName }: InitialNames = {},
): readonly FieldSpec[] => {
  const given = {
    name: 'first_name',
    autocomplete: 'given-name',
    maxlength: 200,
    value: firstName,
  } as const;
  const family = {
    name: 'last_name',
    autocomplete: 'family-name',
    maxlength: 200,
    value: lastName,
  } as const;
  return isFamilyNameFirst ? [family, given] : [given, family];
};
