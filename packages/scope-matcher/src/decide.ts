import { covers } from './pattern.ts';

export interface Policy {
  /** A pattern of permissions: `tenant.*.crm.contacts.*`. */
  readonly action: string;
  readonly effect: 'allow' | 'deny';
}

export interface Decision<P extends Policy = Policy> {
  readonly allowed: boolean;
  /** The policy that decided; null if no policy covers the permission, which denies it. */
  readonly by: P | null;
}

/** Decides whether policies allow a permission: a deny overrides every allow; the default is to deny. */
export const decide = <P extends Policy>(
  policies: readonly P[],
  permission: string,
): Decision<P> => {
  let allow: P | null = null;
  for (const policy of policies) {
    if (policy.effect === 'allow' && allow) continue;
    if (!covers(policy.action, permission)) continue;
    if (policy.effect !== 'allow') return { allowed: false, by: policy };
    allow = policy;
  }
  return { allowed: allow !== null, by: allow };
};
