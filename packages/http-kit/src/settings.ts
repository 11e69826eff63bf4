import { type Fields, type OutOf, readTexts, shape, validate } from '@tessera/fields';

const readLists = (fields: Fields, texts: Record<string, string>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(texts).map(([name, value]) => [
      name,
      fields[name]?.json.type === 'array' ? value.split(',').map((item) => item.trim()) : value,
    ]),
  );

/**
 * Reads the declared variables out of an environment; an empty one counts as absent, lists are
 * separated by commas. Throws one error that names every variable that does not fit, never its value.
 */
export const readSettings = <const F extends Fields>(
  fields: F,
  environment: Readonly<Record<string, string | undefined>>,
): OutOf<F> => {
  const declared = shape(fields);
  const given: Record<string, string> = {};
  for (const name of Object.keys(fields)) {
    const value = environment[name];
    if (value) given[name] = value;
  }
  const result = validate(declared, readTexts(declared, readLists(fields, given)), 'environment');
  if (result.ok) return result.value as OutOf<F>;
  const problems = Object.values(result.errors).flat();
  throw new Error(`The configuration does not fit:\n${problems.map((p) => `- ${p}`).join('\n')}`);
};
