/** Where a value is in a JSON document: `['items', 0, 'contact_id']`. */
export type Path = readonly (string | number)[];

/** A copy of a JSON value in which the value at `path` is replaced. */
export const replaceAt = (json: unknown, path: Path, value: unknown): unknown => {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  const copy = (Array.isArray(json) ? [...json] : { ...(json as object) }) as Record<
    string | number,
    unknown
  >;
  copy[key] = replaceAt(copy[key], rest, value);
  return copy;
};

/** A copy of a JSON value without the property or the list element at `path`. */
export const removeAt = (json: unknown, path: Path): unknown => {
  const [key, ...rest] = path;
  if (key === undefined) return undefined;
  if (Array.isArray(json)) {
    if (rest.length === 0) return json.filter((_element, index) => index !== key);
    return json.map((element, index) => (index === key ? removeAt(element, rest) : element));
  }
  const { [key]: value, ...others } = json as Record<string | number, unknown>;
  return rest.length === 0 ? others : { ...others, [key]: removeAt(value, rest) };
};
