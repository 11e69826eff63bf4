/** SQL of the policies that a user has in a tenant, as JSON, given `m`, their row of `memberships`; null without any. */
export const EFFECTIVE_POLICIES = `
  (SELECT json_agg(json_build_object('action', p.action, 'effect', p.effect)) FROM (
    SELECT action, effect FROM identity.role_policies WHERE role_id = m.role_id
    UNION ALL
    SELECT action, effect FROM identity.membership_policies
    WHERE tenant_id = m.tenant_id AND user_id = m.user_id) AS p)`;
