import type { FieldErrors } from '@tessera/fields';
import { validationFailed } from '@tessera/http-kit';

/** The fields of a communication log that depend on each other. */
interface Dependent {
  readonly kind: string;
  readonly direction?: string | null | undefined;
  readonly contact_id?: string | null | undefined;
  readonly company_id?: string | null | undefined;
}

const NEEDS_DIRECTION = ['call', 'email', 'sms'];

const directionProblem = ({ kind, direction = null }: Dependent): string | undefined => {
  if (kind === 'note' && direction !== null) return 'direction must be null for a note';
  if (NEEDS_DIRECTION.includes(kind) && direction === null) {
    return `direction must be inbound or outbound for the kind ${kind}`;
  }
  return undefined;
};

/** Throws a 422 if the direction does not fit the kind, or if there is neither a contact nor a company. */
export const requireConsistent = (log: Dependent): void => {
  const errors: FieldErrors = {};
  const problem = directionProblem(log);
  if (problem !== undefined) errors.direction = [problem];
  if ((log.contact_id ?? null) === null && (log.company_id ?? null) === null) {
    errors.contact_id = ['contact_id must be given, unless there is a company_id'];
    errors.company_id = ['company_id must be given, unless there is a contact_id'];
  }
  if (Object.keys(errors).length > 0) throw validationFailed(errors);
};
