import { readFileSync } from 'node:fs';
import { conformance, type OpenApiDocument } from '@tessera/conformance';
import { DeploymentAutomationStandIn } from '@tessera/local-stack';
import { conformanceSubject } from './testing/conformance-subject.ts';
import { CrmStandIn } from './testing/crm.ts';
import { startIdentity, type TestIdentity } from './testing/identity.ts';

const document = JSON.parse(
  readFileSync(new URL('../openapi.json', import.meta.url), 'utf8'),
) as OpenApiDocument;

let identity: TestIdentity;
const automation = new DeploymentAutomationStandIn();
const crm = new CrmStandIn();

conformance(
  document,
  async () => {
    await automation.start();
    await crm.start();
    identity = await startIdentity({ ...automation.environment, ...crm.environment });
    return conformanceSubject(identity);
  },
  async () => {
    await identity.stop();
    await crm.stop();
    await automation.stop();
  },
);
