import { described, int, type OutOf, optional, rawText, withDefault } from '@tessera/fields';
import { serviceUrl } from '@tessera/http-kit';

/** The services that identity calls: deployment automation and CRM. */
export const upstreamVariables = {
  DEPLOYMENT_AUTOMATION_URL: described(
    optional(serviceUrl()),
    'Base URL of deployment automation. Without it, tenants cannot be created, suspended, activated or deleted.',
  ),
  DEPLOYMENT_AUTOMATION_TOKEN: described(
    optional(rawText(2000)),
    'Bearer token for deployment automation; required with DEPLOYMENT_AUTOMATION_URL.',
  ),
  DEPLOYMENT_AUTOMATION_TIMEOUT_MS: described(
    // The three calls of one change must fit into the time limit of its transaction.
    withDefault(int(1, 15_000), 10_000),
    'Timeout of a request to deployment automation, in milliseconds.',
  ),
  PROVISIONING_CHECK_SECONDS: described(
    withDefault(int(1, 3600), 5),
    'Seconds between status checks of tenants that are being deployed.',
  ),
  CRM_URL: described(
    optional(serviceUrl()),
    'Base URL of CRM, for email and SMS accounts, storage usage and its health.',
  ),
  CRM_SYSTEM_TOKEN: described(
    optional(rawText(500, 32)),
    "One of CRM's SYSTEM_TOKENS; required with CRM_URL.",
  ),
  CRM_TIMEOUT_MS: described(
    withDefault(int(1, 60_000), 5000),
    'Timeout of a request to CRM, in milliseconds. A test message may take 20 seconds.',
  ),
} as const;

/** A service that is called with a token; undefined where it is not configured. */
const upstreamOf = (
  name: 'DEPLOYMENT_AUTOMATION' | 'CRM',
  {
    url,
    token,
    timeoutMs,
  }: { url: string | undefined; token: string | undefined; timeoutMs: number },
) => {
  if (url === undefined) return undefined;
  if (token !== undefined) return { url: url.replace(/\/+$/, ''), token, timeoutMs };
  const missing = name === 'CRM' ? 'CRM_SYSTEM_TOKEN' : `${name}_TOKEN`;
  throw new Error(`The configuration lacks ${missing}, which ${name}_URL needs.`);
};

/** Throws where a URL is set without its token. */
export const upstreamSettings = (read: OutOf<typeof upstreamVariables>) => ({
  deploymentAutomation: upstreamOf('DEPLOYMENT_AUTOMATION', {
    url: read.DEPLOYMENT_AUTOMATION_URL,
    token: read.DEPLOYMENT_AUTOMATION_TOKEN,
    timeoutMs: read.DEPLOYMENT_AUTOMATION_TIMEOUT_MS,
  }),
  /** Seconds. */
  provisioningCheck: read.PROVISIONING_CHECK_SECONDS,
  crm: upstreamOf('CRM', {
    url: read.CRM_URL,
    token: read.CRM_SYSTEM_TOKEN,
    timeoutMs: read.CRM_TIMEOUT_MS,
  }),
});
