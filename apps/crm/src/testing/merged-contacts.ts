import { randomUUID } from 'node:crypto';
import type { Tenant } from '@tessera/conformance';
import type { TestCrm } from './crm.ts';

/** Merges that tests made from the OpenAPI document undo. */
export const mergesOf = (crm: TestCrm) => {
  const merged = new Map<Tenant, string>();

  return {
    /** Merges a new contact into another one, and returns the parameters of the path of the latter. */
    async parameters(side: Tenant): Promise<{ id: string }> {
      const caller = crm.caller({ tenant: side === 'own' ? 'acme' : 'globex' });
      const post = async (path: string, sent: object): Promise<string> => {
        const { body } = await crm.http.post(`/api/crm/contacts${path}`).set(caller).send(sent);
        return body.data.id;
      };
      const contact = () => post('', { first_name: 'Ada' });
      const [id, other] = [await contact(), await contact()];
      await post(`/${id}/merge`, { contact_id: other });
      merged.set(side, other);
      return { id };
    },

    /** A body that names the contact of the last merge once, and then others. */
    body(side: Tenant): { contact_id: string } {
      const contact_id = merged.get(side) ?? randomUUID();
      merged.delete(side);
      return { contact_id };
    },
  };
};
