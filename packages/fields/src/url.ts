import { type Field, field } from './field.ts';
import { string } from './string.ts';

const label = '[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?';
/**
 * The last label of a host must not be a number, since the host would then be an IPv4 address (WHATWG URL,
 * section 3.5).
 */
const lastLabel = '(?:[0-9][0-9-]*)?[A-Za-z](?:[A-Za-z0-9_-]*[A-Za-z0-9])?';
const name = `(?:${label}\\.)*${lastLabel}\\.?`;
const byte = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const ipv4 = `(?:${byte}\\.){3}${byte}`;
const ipv6 = '\\[[0-9A-Fa-f:.]+\\]';
const port = '(?:[0-9]{0,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])';
/** The characters of a path, a query or a fragment (RFC 3986 sections 3.3 to 3.5). */
const rest = "(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*";

const pattern = new RegExp(
  `^https?://(?:${ipv6}|${ipv4}|${name})(?::${port})?(?:[/?]${rest})?(?:#${rest})?$`,
);

/**
 * An http or https URL of up to `max` characters, without credentials. It must be valid under both RFC 3986 and
 * the URL standard of browsers, so that every consumer accepts it. The value is not normalised.
 */
export const url = (max: number): Field<string, false> =>
  field(
    string((value, { error }) => {
      if (value.length > max) return error('string.max', { limit: max });
      return pattern.test(value) && URL.canParse(value) ? value : error('url.invalid');
    }),
    {
      type: 'string',
      format: 'uri',
      maxLength: max,
      pattern: pattern.source,
      examples: ['https://example.com/page'],
    },
  );
