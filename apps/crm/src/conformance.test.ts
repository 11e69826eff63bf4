import { conformance, type OpenApiDocument } from '@tessera/conformance';
import { document } from './document.ts';
import { startCrm, type TestCrm } from './testing/crm.ts';

let crm: TestCrm;

conformance(
  document() as OpenApiDocument,
  async () => {
    crm = await startCrm();
    return {
      url: crm.url,
      caller: async (tenant, lacking) =>
        crm.caller({
          tenant: tenant === 'own' ? 'acme' : 'globex',
          ...(lacking !== undefined && { lacking: [lacking] }),
        }),
    };
  },
  () => crm.stop(),
);
