import { PrincipalRightsPayload, principalType } from '@tessera/contracts';
import { described, optional, rawText, shape, uuid } from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import { route, success } from '../../http/route.ts';
import type { FoundRights } from './principals.repository.ts';
import type { PrincipalsService } from './principals.service.ts';

const INACTIVE = { active: false, tenant_slug: null, is_system_admin: false, policies: [] };

const present = ({ tenantSlug, isSystemAdmin, policies, scopes }: FoundRights) => {
  const rights = {
    active: true,
    tenant_slug: tenantSlug,
    is_system_admin: isSystemAdmin,
    policies: policies.map(({ action, effect }) => ({ action, effect })),
  };
  return scopes ? Object.assign(rights, { scopes: [...scopes] }) : rights;
};

export const principalRoutes = (principals: PrincipalsService): RouteTable => ({
  getPrincipalRights: route({
    method: 'get',
    path: '/api/tenants/{tenantId}/rights',
    permission: 'identity.principals.view',
    limit: 'rights',
    summary: 'Get the current rights of a principal in a tenant, for services',
    description:
      'For services that act for a principal who is not present. `active` is false if the principal is unknown, deactivated or not a member of the tenant, if the tenant is not active, or if the API key is not valid; the response does not say which. The policies of a client are its scopes.',
    params: shape({ tenantId: uuid() }),
    query: shape({
      id: described(rawText(200), 'The id of a user, or of a client'),
      type: principalType,
      token_id: described(
        optional(uuid()),
        'The API key that a service account uses. It must be valid, and its scopes limit the policies.',
      ),
    }),
    responses: { 200: success(PrincipalRightsPayload) },
    async handler({ params: { tenantId }, query, reply }) {
      const { id: principalId, type, token_id: tokenId } = query;
      const rights = await principals.rights({ tenantId, principalId, type, tokenId });
      return reply(200, { success: true, data: rights ? present(rights) : INACTIVE });
    },
  }),
});
