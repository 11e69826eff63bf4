import { ShareInUse } from './fair-pool.ts';

/** The members that distinguish errors of Prisma, its adapter, pg and sockets. */
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
  /** The name of the constraint or unique index; undefined if the database does not report it. */
  readonly constraint: string | undefined;
}

const KINDS = new Map<unknown, ConstraintViolation['kind']>([
  ['23503', 'foreign_key'],
  ['23505', 'unique'],
  ['23P01', 'exclusion'],
  ['23514', 'check'],
  // Prisma's adapter has its own names for two of them.
  ['ForeignKeyConstraintViolation', 'foreign_key'],
  ['UniqueConstraintViolation', 'unique'],
]);

/** How PostgreSQL's messages name a constraint. Citus passes the message on, but not the name. */
const NAMED_CONSTRAINT = /violates (?:foreign key|unique|exclusion|check) constraint "(.+?)"/;

/** What Citus appends to the names of constraints of a shard. */
const SHARD_SUFFIX = /_\d{6,}$/;

/**
 * The constraint that a write violated, without Citus's shard number; undefined for any other error.
 * Understands errors of Prisma's models, of `$queryRaw` and of pg.
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

/** Whether a write violated a unique index; with `index`, whether it violated that one. */
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
 * SQLSTATE classes 08 (connection), 53 (resources) and 57P (shutdown and startup), 57014 (statement timeout),
 * 40001 (serialization failure) and 40P01 (deadlock, which concurrent violations of an exclusion constraint can
 * also cause).
 */
const UNAVAILABLE_STATE = /^(08...|53...|57P..|57014|40001|40P01)$/;

/** The kinds that Prisma's adapter reports; errors of `$queryRaw` have nothing else. */
const UNAVAILABLE_KINDS = new Set<unknown>([
  'DatabaseNotReachable',
  'ConnectionClosed',
  'SocketTimeout',
  'TooManyConnections',
]);

/** Errors that only the message identifies: those of pg, and Prisma's P2028, which also stands for misuse. */
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

/** Whether the database was unreachable or did not respond in time, so that the same call may succeed later. */
export function isDatabaseUnavailable(error: unknown): boolean {
  return chain(error).some(
    ({ code, kind, originalCode, message }) =>
      UNAVAILABLE_CODES.has(code) ||
      UNAVAILABLE_KINDS.has(kind) ||
      UNAVAILABLE_STATE.test(String(originalCode ?? code)) ||
      UNAVAILABLE_MESSAGE.test(String(message)),
  );
}

const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Whether work was not done because others of the same tenant or caller do theirs: its share of the connections is in use,
 * or somebody holds a lock for too long. The same call may succeed later.
 */
export function isBusy(error: unknown): boolean {
  return chain(error).some(
    (part) => part instanceof ShareInUse || (part.originalCode ?? part.code) === LOCK_NOT_AVAILABLE,
  );
}

/** Whether a statement took longer than its `statement_timeout`, and not because somebody cancelled it. */
export function isStatementTimeout(error: unknown): boolean {
  return chain(error).some(
    ({ code, originalCode, originalMessage, message }) =>
      (originalCode ?? code) === '57014' &&
      String(originalMessage ?? message).includes('statement timeout'),
  );
}

/** The error and its causes: Prisma wraps the adapter's error, which wraps a description. */
function chain(error: unknown): ErrorParts[] {
  if (typeof error !== 'object' || error === null) return [];
  const parts: ErrorParts = error;
  return [parts, ...chain(parts.meta?.driverAdapterError), ...chain(parts.cause)];
}

/** The name of a constraint: a string in errors of pg, an object in errors of Prisma's adapter. */
function nameOf(constraint: unknown): string | undefined {
  const name =
    typeof constraint === 'object' && constraint !== null && 'index' in constraint
      ? constraint.index
      : constraint;
  return typeof name === 'string' ? name : undefined;
}
