import type { TenantDb } from '../../database.ts';
import { Prisma } from '../../generated/prisma/client.ts';

const { sql } = Prisma;

/**
 * The company of a contact, unless it is deleted. Nobody deletes it before the transaction ends, so that a new record can refer
 * to it.
 */
export const companyOfContact = async (db: TenantDb, contactId: string): Promise<string | null> => {
  const [company] = await db.query<{ id: string }>(sql`
    SELECT company.id FROM tenant_crm.contacts AS contact
    JOIN tenant_crm.companies AS company
      ON company.tenant_id = contact.tenant_id AND company.id = contact.company_id
    WHERE contact.tenant_id = ${db.tenantId}::uuid AND contact.id = ${contactId}::uuid
      AND company.tenant_id = ${db.tenantId}::uuid AND company.deleted_at IS NULL
    FOR SHARE OF company`);
  return company?.id ?? null;
};
