import { type PermissionRegistry, PolicyPayload } from '@tessera/contracts';
import {
  bool,
  described,
  list,
  named,
  nullable,
  oneOf,
  optional,
  rawText,
  shape,
  text,
  uuid,
  withRule,
} from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import { WILDCARD } from '@tessera/scope-matcher';
import { route, success } from '../../http/route.ts';
import { explain, type SourcedPolicy, sourcesOf } from './explanation.ts';
import type { MembersService } from './members.service.ts';

const SourcedPolicyPayload = named(
  'SourcedPolicy',
  shape({
    source: oneOf('role', 'membership', 'system_administrator'),
    role: described(nullable(text(100)), 'Name of the role, if the source is a role'),
    ...PolicyPayload.fields,
  }),
);

const MemberPermissions = named(
  'MemberPermissions',
  shape({
    permission: optional(text(300)),
    allowed: optional(bool()),
    by: optional(nullable(SourcedPolicyPayload)),
    policies: optional(list(SourcedPolicyPayload, { max: 10_000 })),
  }),
);

/** One existing permission, not a pattern. */
const permissionIn = (permissions: PermissionRegistry) =>
  withRule(rawText(300), (name) => {
    if (name.split('.').includes(WILDCARD)) return 'must be one permission, without wildcards';
    const check = permissions.check(name);
    return check.known ? undefined : `is not known: ${check.reason}`;
  });

const present = ({ source, role, action, effect }: SourcedPolicy) => ({
  source,
  role,
  action,
  effect,
});

export const memberPermissionRoutes = (
  members: MembersService,
  permissions: PermissionRegistry,
): RouteTable => ({
  getMemberPermissions: route({
    method: 'get',
    path: '/api/tenants/{tenantId}/members/{userId}/permissions',
    permission: 'identity.members.view',
    resource: 'member',
    summary: 'Explain the permissions of a member',
    description:
      'With `permission`: whether it is `allowed`, and the deciding policy in `by`, or null if none matches, which denies it. Without: all policies that apply to the member. The scopes of a token limit its permissions further.',
    params: shape({ tenantId: uuid(), userId: uuid() }),
    query: shape({ permission: optional(permissionIn(permissions)) }),
    responses: { 200: success(MemberPermissions) },
    async handler({ params, query, reply }) {
      const member = await members.show(params.tenantId, params.userId);
      if (query.permission === undefined) {
        return reply(200, { success: true, data: { policies: sourcesOf(member).map(present) } });
      }
      const { allowed, by } = explain(member, query.permission);
      const data = { permission: query.permission, allowed, by: by && present(by) };
      return reply(200, { success: true, data });
    },
  }),
});
