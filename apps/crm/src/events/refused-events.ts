/** The answers of Kafka that concern the record itself, and would be the same for another attempt. */
const REFUSALS: ReadonlySet<unknown> = new Set([
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'INVALID_RECORD',
]);

/** Classes of SQLSTATE that concern the data: its format, constraints, and limits of sizes. */
const DATA_ERRORS: ReadonlySet<string> = new Set(['22', '23', '54']);

const PROGRAM_ERRORS = [TypeError, RangeError, SyntaxError, URIError];

interface Reported {
  readonly type?: unknown;
  readonly code?: unknown;
  readonly cause?: unknown;
  readonly originalError?: unknown;
}

/**
 * Whether an event can never be taken, however often it is tried. Everything else counts as an outage, which must not
 * cost an event: unknown errors too.
 */
export const isRefusal = (error: unknown): boolean => {
  const seen = new Set<unknown>();
  const pending: unknown[] = [error];
  while (pending.length > 0) {
    const one = pending.pop();
    if (typeof one !== 'object' || one === null || seen.has(one)) continue;
    seen.add(one);
    const { type, code, cause, originalError } = one as Reported;
    if (REFUSALS.has(type)) return true;
    if (typeof code === 'string' && code.length === 5 && DATA_ERRORS.has(code.slice(0, 2)))
      return true;
    if (PROGRAM_ERRORS.some((program) => one instanceof program)) return true;
    pending.push(cause, originalError);
  }
  return false;
};
