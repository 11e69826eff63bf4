import { bool, date, type Field, number, oneOf, text } from '@tessera/fields';

/** The types of custom fields. */
export const fieldTypes = ['text', 'number', 'date', 'bool', 'choice'] as const;
export type FieldType = (typeof fieldTypes)[number];

/** The largest magnitude whose integers a JSON number holds exactly. */
const MAX_NUMBER = Number.MAX_SAFE_INTEGER;

/** The largest number of characters of a choice. */
export const MAX_CHOICE = 100;

/** The field that the values of a custom field are validated by. */
export const valueField = (type: FieldType, choices: readonly string[]): Field => {
  switch (type) {
    case 'text':
      return text(1000);
    case 'number':
      return number(-MAX_NUMBER, MAX_NUMBER);
    case 'date':
      return date();
    case 'bool':
      return bool();
    case 'choice':
      return oneOf(...choices);
  }
};

/** The field that contacts are filtered by: they may have a choice that was removed since. */
export const filterField = (type: FieldType, choices: readonly string[]): Field =>
  type === 'choice' ? text(MAX_CHOICE) : valueField(type, choices);
