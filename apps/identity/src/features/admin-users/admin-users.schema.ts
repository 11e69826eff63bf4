import {
  bool,
  described,
  list,
  named,
  nullable,
  type Out,
  oneOf,
  optional,
  partial,
  rawText,
  shape,
  text,
  time,
  uuid,
  withDefault,
} from '@tessera/fields';
import { pageFields } from '../../http/route.ts';
import { searchWords } from '../../lists/search.ts';
import type { AdminUser as AdminUserRecord } from './admin-user.ts';
import type { UserData, UserQuery } from './admin-users.repository.ts';

export const AdminUser = named(
  'AdminUser',
  shape({
    id: uuid(),
    email: nullable(text(254)),
    name: text(401),
    first_name: text(200),
    // Empty for a service account, which has a single name.
    last_name: rawText(200, 0),
    is_active: bool(),
    is_system_admin: bool(),
    is_service_account: bool(),
    force_password_change: bool(),
    two_factor_enabled: bool(),
    email_verified_at: nullable(time()),
    last_login_at: nullable(time()),
    created_at: time(),
    tenants: list(
      named(
        'AdminUserTenant',
        shape({ id: uuid(), slug: text(63), name: text(200), role: text(100) }),
      ),
      { max: 10_000 },
    ),
  }),
);

export const AdminUserChange = named(
  'AdminUserChange',
  partial(
    shape({
      first_name: text(200),
      last_name: text(200),
      is_active: described(bool(), 'False deactivates the user and signs them out everywhere'),
      force_password_change: described(
        bool(),
        'True restricts the user’s tokens to changing the password',
      ),
    }),
  ),
);

export const SystemAdmin = named('SystemAdmin', shape({ is_system_admin: bool() }));

const SORTS = ['name', 'email', 'created_at', 'last_login_at'] as const;
type Column = (typeof SORTS)[number];

export const UsersQuery = shape({
  ...pageFields,
  search: described(
    optional(searchWords()),
    'Words in the name or email address, ignoring case and accents',
  ),
  is_active: optional(bool()),
  is_system_admin: optional(bool()),
  is_service_account: optional(bool()),
  tenant_id: described(optional(uuid()), 'Only members of this tenant'),
  sort: withDefault(oneOf(...SORTS, ...SORTS.map((column) => `-${column}` as const)), 'name'),
});

export const queryOf = (query: Out<typeof UsersQuery>): UserQuery => ({
  page: query.page,
  perPage: query.per_page,
  search: query.search,
  isActive: query.is_active,
  isSystemAdmin: query.is_system_admin,
  isServiceAccount: query.is_service_account,
  tenantId: query.tenant_id,
  sort: {
    by: query.sort.replace('-', '') as Column,
    order: query.sort.startsWith('-') ? 'desc' : 'asc',
  },
});

export const changeOf = (body: Out<typeof AdminUserChange>): UserData => ({
  firstName: body.first_name,
  lastName: body.last_name,
  isActive: body.is_active,
  forcePasswordChange: body.force_password_change,
});

export const presentAdminUser = (user: AdminUserRecord): Out<typeof AdminUser> => ({
  id: user.id,
  email: user.email,
  name: `${user.firstName} ${user.lastName}`.trim(),
  first_name: user.firstName,
  last_name: user.lastName,
  is_active: user.isActive,
  is_system_admin: user.isSystemAdmin,
  is_service_account: user.isServiceAccount,
  force_password_change: user.forcePasswordChange,
  two_factor_enabled: user.twoFactor !== null && user.twoFactor.confirmedAt !== null,
  email_verified_at: user.emailVerifiedAt,
  last_login_at: user.lastLoginAt,
  created_at: user.createdAt,
  tenants: user.memberships.map(({ tenant: { id, slug, name }, role }) => ({
    id,
    slug,
    name,
    role: role.name,
  })),
});
