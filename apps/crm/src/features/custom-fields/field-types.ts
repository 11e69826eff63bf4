import { bool, date, type Field, number, oneOf, text } from '@tessera/fields';

/** The types of custom fields. */
export const fieldTypes = ['text', 'number', 'date', 'bool', 'choice'] as const;
export type FieldType = (typeof fieldTypes)[number];

/** The largest magnitude whose integers a JSON number holds exactly. */
const MAX_NUMBER = Number.MAX_SAFE_INTEGER;

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
