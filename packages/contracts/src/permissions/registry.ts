import { crmPermissions } from './crm.ts';
import { systemPermissions, tenantPermissions } from './identity.ts';

export interface Permission {
  /** In full; `{slug}` stands for the slug of any tenant. */
  readonly name: string;
  readonly description: string;
  /** Held by system administrators and system applications only. */
  readonly system: boolean;
}

const permissions = (
  described: Readonly<Record<string, string>>,
  { prefix = '', system = false } = {},
): Permission[] =>
  Object.entries(described).map(([name, description]) => ({
    name: prefix + name,
    description,
    system,
  }));

/** Every permission of both services. */
export const permissionRegistry: readonly Permission[] = [
  ...permissions(tenantPermissions),
  ...permissions(systemPermissions, { system: true }),
  ...permissions(crmPermissions, { prefix: 'tenant.{slug}.crm.' }),
];

/** Their names, as `knownPattern` of the scope matcher takes them. */
export const permissionNames: readonly string[] = permissionRegistry.map(({ name }) => name);
