/** The parts of errors of Prisma, of its adapter, of pg and of sockets that tell them apart. */
interface Trouble {
  code?: unknown;
  message?: unknown;
  cause?: unknown;
  meta?: { driverAdapterError?: unknown };
  kind?: unknown;
  originalCode?: unknown;
  constraint?: unknown;
}

/**
 * Whether a write broke a unique index: that index, where a name is given. Knows the errors of Prisma's
 * models (P2002), of `$queryRaw` and of plain pg.
 */
export function isUniqueViolation(error: unknown, index?: string): boolean {
  return chain(error).some(
    ({ kind, code, constraint }) =>
      (kind === 'UniqueConstraintViolation' || code === '23505') &&
      (index === undefined || nameOf(constraint) === index),
  );
}

/**
 * The foreign key that a write broke, by its name; undefined where that is not what went wrong. Knows the
 * errors of Prisma's models (P2003), of `$queryRaw` and of plain pg.
 */
export function brokenForeignKey(error: unknown): string | undefined {
  return chain(error)
    .filter(({ kind, code }) => kind === 'ForeignKeyConstraintViolation' || code === '23503')
    .map(({ constraint }) => nameOf(constraint))
    .find((name) => typeof name === 'string');
}

const UNAVAILABLE_CODES = new Set<unknown>([
  // Prisma: not reachable, timed out, connection closed, no connection in time, too many connections
  'P1001',
  'P1002',
  'P1008',
  'P1017',
  'P2024',
  'P2037',
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
]);

/**
 * PostgreSQL's classes 08 (connection), 53 (resources) and 57P (shutting down, starting), and 57014:
 * the statement's time was up.
 */
const UNAVAILABLE_STATE = /^(08...|53...|57P..|57014)$/;

/** How Prisma's adapter describes it; for `$queryRaw` that is all there is. */
const UNAVAILABLE_KINDS = new Set<unknown>([
  'DatabaseNotReachable',
  'ConnectionClosed',
  'SocketTimeout',
  'TooManyConnections',
]);

/** What says it in words only: pg, and Prisma's P2028, which stands for misuse as well. */
const UNAVAILABLE_MESSAGE = new RegExp(
  [
    'timeout exceeded when trying to connect',
    'Connection terminated',
    'Client has encountered a connection error',
    'Unable to start a transaction in the given time',
    'cannot be executed on an expired transaction',
  ].join('|'),
);

/** Whether the database could not be asked, or could not answer in time: the same call may succeed later. */
export function isDatabaseUnavailable(error: unknown): boolean {
  return chain(error).some(
    ({ code, kind, originalCode, message }) =>
      UNAVAILABLE_CODES.has(code) ||
      UNAVAILABLE_KINDS.has(kind) ||
      UNAVAILABLE_STATE.test(String(originalCode ?? code)) ||
      UNAVAILABLE_MESSAGE.test(String(message)),
  );
}

/** The error and what is inside: Prisma wraps the adapter's error, and that wraps its description. */
function chain(error: unknown): Trouble[] {
  if (typeof error !== 'object' || error === null) return [];
  const trouble: Trouble = error;
  return [trouble, ...chain(trouble.meta?.driverAdapterError), ...chain(trouble.cause)];
}

/** pg names the constraint; Prisma's adapter puts the name into an object. */
function nameOf(constraint: unknown): unknown {
  return typeof constraint === 'object' && constraint !== null && 'index' in constraint
    ? constraint.index
    : constraint;
}
