import { invalidField } from '@tessera/http-kit';
import type { TenantDb } from '../../database.ts';
import { lockDeclarations } from './custom-fields.repository.ts';
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

/** 422 if the type changes: contacts may have values of the current type. */
export const refuseTypeChange = (type: FieldType, changed: FieldType | undefined): void => {
  if (changed === undefined || changed === type) return;
  const instead = 'delete the field and declare another one';
  throw invalidField('type', `type must stay ${type}: to change it, ${instead}`);
};
