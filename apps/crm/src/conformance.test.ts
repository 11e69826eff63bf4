import { conformance, type OpenApiDocument } from '@tessera/conformance';
import { document } from './document.ts';
import { conformanceSubject } from './testing/conformance-subject.ts';
import { startCrm, type TestCrm } from './testing/crm.ts';

let crm: TestCrm;

conformance(
  document() as OpenApiDocument,
  async () => {
    // A job changes the record between two requests of a check.
    crm = await startCrm({}, { enqueueOnly: true });
    return conformanceSubject(crm);
  },
  () => crm.stop(),
);
