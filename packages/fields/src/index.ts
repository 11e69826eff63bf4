export { domain, email } from './addresses.ts';
export {
  clearable,
  complete,
  described,
  either,
  fieldErrors,
  list,
  mapOf,
  named,
  nullable,
  omissible,
  omittedIfBlank,
  openShape,
  optional,
  partial,
  shape,
  withDefault,
  withRule,
} from './compose.ts';
export type { Field, Fields, JsonSchema, OptionalField, Out, OutOf, Shape } from './field.ts';
export { languageTag } from './languages.ts';
export { caseFolded, tagList, tagText } from './tags.ts';
export { date, isTimeInRange, time, timeZone } from './times.ts';
export { url } from './url.ts';
export {
  type FieldErrors,
  readTexts,
  shortName,
  textValue,
  type Validation,
  validate,
} from './validate.ts';
export {
  anything,
  bool,
  clamped,
  int,
  isUuid,
  matching,
  number,
  oneOf,
  rawText,
  reference,
  text,
  uuid,
} from './words.ts';
