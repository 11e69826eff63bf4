import type { Field } from '@tessera/fields';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Filter } from '../../records/filters.ts';

/** The column is the id of a project that the user is a member of. */
export const memberOf = <C extends string>(column: C, user: Field<string>): Filter<string, C> => ({
  column,
  field: user,
  condition: (id, userId, tenantId) => Prisma.sql`${id} IN (
    SELECT project_id FROM tenant_crm.project_members
    WHERE tenant_id = ${tenantId}::uuid AND user_id = ${userId}::uuid)`,
});
