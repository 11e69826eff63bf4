import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isReady, nodeArguments, root } from './application.ts';
import { keyEncryptionKeys, localSystem } from './credentials.ts';
import { DeploymentAutomationStandIn } from './deployment-automation/stand-in.ts';
import { firstEnd, stopRequested } from './ending.ts';
import { startIdentityStub, stubNotice } from './identity-stub/stub.ts';
import { localReceivers } from './local-receivers.ts';
import { portOf, requireFreePort } from './ports.ts';
import { startPostgres } from './postgres.ts';
import { seedIdentity } from './seed.ts';
import { mailDirectory } from './stack.ts';
import { type SupervisedProcess, superviseProcess } from './supervised-process.ts';

const HOST = '127.0.0.1';
const STANDARD_OUTPUT = 1;

interface Place {
  readonly directory: string;
  readonly identityUrl: string;
  readonly crmUrl: string;
  /** Environment variables of every service. */
  readonly common: Readonly<Record<string, string>>;
}

/** The servers that a service needs. */
interface LocalServers {
  /** Its additional environment variables. */
  readonly environment: Readonly<Record<string, string>>;
  /** Instructions to print when the service is ready. */
  readonly notice: string;
  stop?(): Promise<void>;
}

const startForIdentity = async (place: Place): Promise<LocalServers> => {
  const { directory, identityUrl, crmUrl, common } = place;
  const deploymentAutomation = await new DeploymentAutomationStandIn().start();
  const environment = {
    ...deploymentAutomation.environment,
    PORT: new URL(identityUrl).port,
    ISSUER: identityUrl,
    KEY_ENCRYPTION_KEYS: await keyEncryptionKeys(directory, 'keys.json'),
    MAIL_DIRECTORY: mailDirectory(directory),
  };
  const addresses = { identity_url: identityUrl, crm_url: crmUrl, kafka_brokers: null };
  await localSystem(directory, addresses, (document) =>
    seedIdentity('source', { ...common, ...environment }, document),
  );
  const accounts = path.join(directory, 'local.json');
  const mails = process.env.SMTP_URL ? 'sent through SMTP_URL' : `in ${environment.MAIL_DIRECTORY}`;
  return {
    environment,
    notice: `The accounts are in ${accounts}, mails are ${mails}.`,
    stop: () => deploymentAutomation.stop(),
  };
};

const environmentOfCrm = async ({ directory, crmUrl }: Place): Promise<Record<string, string>> => ({
  ...localReceivers(),
  PORT: new URL(crmUrl).port,
  PUBLIC_URL: crmUrl,
  KEY_ENCRYPTION_KEYS: await keyEncryptionKeys(directory, 'crm-keys.json'),
  FILE_STORE_PATH: path.join(directory, 'files'),
});

const startForCrm = async (place: Place): Promise<LocalServers> => {
  const environment = await environmentOfCrm(place);
  const { IDENTITY_URL } = process.env;
  if (IDENTITY_URL) {
    return { environment, notice: `CRM uses the identity at ${IDENTITY_URL}.` };
  }
  const stub = await startIdentityStub(portOf('IDENTITY_STUB_PORT'));
  return {
    environment: {
      ...environment,
      IDENTITY_URL: stub.url,
      // The stub accepts any client.
      IDENTITY_CLIENT_ID: 'crm',
      IDENTITY_CLIENT_SECRET: 'identity-stub',
    },
    notice: stubNotice(stub.url, place.crmUrl),
    stop: () => stub.stop(),
  };
};

const startForFakeAuth = async (place: Place): Promise<LocalServers> => ({
  environment: { ...(await environmentOfCrm(place)), CRM_FAKE_AUTH: 'true' },
  notice: `\nCRM treats all requests as one caller; no token is needed:\n\n  curl -sS ${place.crmUrl}/api/crm/contacts\n`,
});

/** `crm:fake-auth` is CRM without identity (crm.md section 5.5). */
const startLocalServers = {
  identity: startForIdentity,
  crm: startForCrm,
  'crm:fake-auth': startForFakeAuth,
};

export type Development = keyof typeof startLocalServers;

export const isDevelopment = (what: string): what is Development =>
  Object.hasOwn(startLocalServers, what);

/** Prints the notice after the service's startup log, unless it exits before it is ready. */
const printWhenReady = async (
  service: SupervisedProcess,
  url: string,
  notice: string,
): Promise<void> => {
  let hasEnded = false;
  void service.exited.then(() => {
    hasEnded = true;
  });
  while (!hasEnded && !(await isReady(url))) await delay(100);
  if (!hasEnded) console.log(notice);
};

/**
 * `npm run dev:identity`, `dev:crm`, `dev:crm:fake-auth`: runs one service from its sources with its own
 * embedded PostgreSQL and restarts it on every change. No broker is needed: identity's events stay in the
 * outbox, and CRM's caches are short-lived. CRM uses the identity at IDENTITY_URL, or else the identity stub.
 * Ends with Ctrl-C and leaves nothing running.
 */
export const develop = async (
  what: Development,
  data = path.join(root, '.data', 'develop'),
): Promise<void> => {
  const stopSignal = stopRequested();
  const urlAt = (port: number): string => `http://${HOST}:${port}`;
  const identityUrl = urlAt(portOf('IDENTITY_PORT'));
  const crmUrl = urlAt(portOf('CRM_PORT'));
  const app = what === 'identity' ? 'identity' : 'crm';
  await requireFreePort(what === 'identity' ? 'IDENTITY_PORT' : 'CRM_PORT');
  const directory = path.join(data, app);
  const postgres = await startPostgres({ directory: path.join(directory, 'postgres') });
  const stops = [() => postgres.stop()];
  try {
    const common = { APP_ENV: 'local', HOST, DATABASE_URL: await postgres.createDatabase(app) };
    const place = { directory, common, identityUrl, crmUrl };
    const { environment, notice, stop } = await startLocalServers[what](place);
    if (stop) stops.push(stop);
    const service = superviseProcess({
      command: process.execPath,
      args: ['--watch', ...nodeArguments(app, 'main', 'source')],
      environment: { ...common, ...environment },
      signal: 'SIGTERM',
      output: STANDARD_OUTPUT,
    });
    stops.push(() => service.stop());
    void printWhenReady(service, what === 'identity' ? identityUrl : crmUrl, notice);
    process.exitCode = (await firstEnd<number | undefined>(stopSignal, service.exited)) ?? 0;
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
};
