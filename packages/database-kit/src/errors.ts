/** The parts of errors of Prisma, of its adapter, of pg and of sockets that tell them apart. */
interface ErrorParts {
  code?: unknown;
  message?: unknown;
  cause?: unknown;
  meta?: { driverAdapterError?: unknown };
  kind?: unknown;
  originalCode?: unknown;
  originalMessage?: unknown;
  constraint?: unknown;
}

/** A constraint that a write violated. */
export interface ConstraintViolation {
  readonly kind: 'foreign_key' | 'unique' | 'exclusion' | 'check';
  /** Its name, or that of the unique index; undefined where the database does not tell it. */
  readonly constraint: string | undefined;
}

const KINDS = new Map<unknown, ConstraintViolation['kind']>([
  ['23503', 'foreign_key'],
  ['23505', 'unique'],
  ['23P01', 'exclusion'],
  ['23514', 'check'],
  // Prisma's adapter has words of its own for two of them.
  ['ForeignKeyConstraintViolation', 'foreign_key'],
  ['UniqueConstraintViolation', 'unique'],
]);

/** How PostgreSQL's messages name a constraint. Citus passes the message on, but not the name. */
const NAMED_CONSTRAINT = /violates (?:foreign key|unique|exclusion|check) constraint "(.+?)"/;

/** What Citus appends to the names of constraints of a shard. */
const SHARD_SUFFIX = /_\d{6,}$/;

/**
 * The constraint that a write violated, without Citus's shard number; undefined where that is not what went
 * wrong. Knows the errors of Prisma's models, of `$queryRaw` and of plain pg.
 */
export function violatedConstraint(error: unknown): ConstraintViolation | undefined {
  for (const { kind, code, constraint, originalMessage, message } of chain(error)) {
    const violated = KINDS.get(kind) ?? KINDS.get(code);
    if (violated === undefined) continue;
    const text = String(originalMessage ?? message);
    const name = nameOf(constraint) ?? NAMED_CONSTRAINT.exec(text)?.[1];
    return { kind: violated, constraint: name?.replace(SHARD_SUFFIX, '') };
  }
  return undefined;
}

/** Whether a write violated a unique index: that index, where a name is given. */
export function isUniqueViolation(error: unknown, index?: string): boolean {
  const violated = violatedConstraint(error);
  return violated?.kind === 'unique' && (index === undefined || violated.constraint === index);
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
 * PostgreSQL's classes 08 (connection), 53 (resources) and 57P (shutting down, starting), 57014 (the statement's
 * time was up), and 40001 and 40P01: the statement lost against others, by a deadlock for example, which
 * concurrent violations of one exclusion constraint can cause.
 */
const UNAVAILABLE_STATE = /^(08...|53...|57P..|57014|40001|40P01)$/;

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
    'The transaction took over',
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
function chain(error: unknown): ErrorParts[] {
  if (typeof error !== 'object' || error === null) return [];
  const parts: ErrorParts = error;
  return [parts, ...chain(parts.meta?.driverAdapterError), ...chain(parts.cause)];
}

/** pg names the constraint; Prisma's adapter puts the name into an object. */
function nameOf(constraint: unknown): string | undefined {
  const name =
    typeof constraint === 'object' && constraint !== null && 'index' in constraint
      ? constraint.index
      : constraint;
  return typeof name === 'string' ? name : undefined;
}
