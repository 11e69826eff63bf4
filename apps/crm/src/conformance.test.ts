import { conformance, type OpenApiDocument } from '@tessera/conformance';
import { document } from './document.ts';
import { startCrm, type TestCrm } from './testing/crm.ts';

let crm: TestCrm;
const noCompany = () => ({ company_id: null });

conformance(
  document() as OpenApiDocument,
  async () => {
    crm = await startCrm();
    return {
      url: crm.url,
      // A company must be there.
      bodies: { createContact: noCompany, updateContact: noCompany },
      caller: async (tenant, lacking) =>
        crm.caller({
          tenant: tenant === 'own' ? 'acme' : 'globex',
          ...(lacking !== undefined && { lacking: [lacking] }),
        }),
    };
  },
  () => crm.stop(),
);
