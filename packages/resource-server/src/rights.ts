import { decide, type Policy } from '@tessera/scope-matcher';

/** Whether a permission, given in full, is allowed. */
export type Rights = (permission: string) => boolean;

export const everything: Rights = () => true;
export const nothing: Rights = () => false;

/** The rights that policies grant. Decisions are memoized for the lifetime of the returned function. */
export const rightsFromPolicies = (policies: readonly Policy[]): Rights => {
  const decisions = new Map<string, boolean>();
  return (permission) => {
    const known = decisions.get(permission);
    if (known !== undefined) return known;
    const { allowed } = decide(policies, permission);
    decisions.set(permission, allowed);
    return allowed;
  };
};

/** The rights that the scopes of a token cover; the caller's policies may allow less. */
export const rightsFromScopes = (scopes: readonly string[]): Rights =>
  rightsFromPolicies(scopes.map((action) => ({ action, effect: 'allow' })));
