import { conformance, type OpenApiDocument } from '@tessera/conformance';
import { document } from './document.ts';
import { conformanceSubject } from './testing/conformance-subject.ts';
import { startCrm, type TestCrm } from './testing/crm.ts';
import { type MessagingServers, startMessagingServers } from './testing/messaging-servers.ts';

let crm: TestCrm;
let servers: MessagingServers;

conformance(
  document() as OpenApiDocument,
  async () => {
    // A job changes the record between two requests of a check.
    servers = await startMessagingServers();
    crm = await startCrm(servers.environment, { enqueueOnly: true });
    return conformanceSubject(crm, servers);
  },
  async () => {
    await crm.stop();
    await servers.stop();
  },
);
