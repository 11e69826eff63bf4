import { HttpError, invalidField } from '@tessera/http-kit';
import type { TenantDb } from '../../database.ts';
import { hasValues, lockDeclarations } from './custom-fields.repository.ts';
import type { FieldType } from './field-types.ts';

/** Waits until no other transaction writes values of the tenant's custom fields. */
export const lockFields = (db: TenantDb): Promise<void> => lockDeclarations(db, 'exclusive');

/** 422 unless exactly a field of the type `choice` has choices. */
export const assertChoices = ({
  type,
  choices,
}: {
  readonly type: FieldType;
  readonly choices: readonly string[];
}): void => {
  if (type === 'choice' && choices.length === 0) {
    throw invalidField('choices', 'choices must not be empty for the type choice');
  }
  if (type !== 'choice' && choices.length > 0) {
    throw invalidField('choices', `choices must be empty for the type ${type}`);
  }
};

/** 409 if the type changes although a contact has a value. */
export const refuseTypeChange = async (
  db: TenantDb,
  { key, type }: { readonly key: string; readonly type: FieldType },
  changed: FieldType | undefined,
): Promise<void> => {
  if (changed === undefined || changed === type || !(await hasValues(db, key))) return;
  throw new HttpError(409, 'conflict', 'The type cannot change: contacts have values.');
};
