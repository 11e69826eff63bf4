import { decide, type Policy } from '@tessera/scope-matcher';

/** Whether a permission, fully qualified, is allowed. */
export type Rights = (permission: string) => boolean;

export const everything: Rights = () => true;
export const nothing: Rights = () => false;

/**
 * Policies that remember what they decided: each permission is matched once for as long as the set is
 * kept, and costs a look-up after that.
 */
export const rightsOf = (policies: readonly Policy[]): Rights => {
  const decided = new Map<string, boolean>();
  return (permission) => {
    const known = decided.get(permission);
    if (known !== undefined) return known;
    const { allowed } = decide(policies, permission);
    decided.set(permission, allowed);
    return allowed;
  };
};

/** The rights that scopes leave; policies of the caller may leave less. */
export const rightsWithin = (scopes: readonly string[]): Rights =>
  rightsOf(scopes.map((action) => ({ action, effect: 'allow' })));
