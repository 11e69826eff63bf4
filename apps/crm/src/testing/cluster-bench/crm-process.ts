import { spawnService } from '@tessera/local-stack';
import { testEnvironment } from '../crm.ts';

export interface CrmSettings {
  readonly databaseUrl: string;
  readonly isDistributed: boolean;
  readonly identityUrl: string;
  readonly brokers: readonly string[];
}

// The same for each process.
const { KEY_ENCRYPTION_KEYS = '' } = testEnvironment('', '');

/** Runs CRM as a process of its own during `work`. */
export const withCrm = async (
  { databaseUrl, isDistributed, identityUrl, brokers }: CrmSettings,
  work: (url: string) => Promise<void>,
): Promise<void> => {
  const { ready, child, ended } = spawnService('crm', {
    ...testEnvironment(databaseUrl, identityUrl),
    DATABASE_POOL_SIZE: '10',
    DATABASE_ROW_SECURITY: 'false',
    DATABASE_DISTRIBUTED: `${isDistributed}`,
    // Without identity's events, CRM asks identity for every request.
    KAFKA_BROKERS: brokers.join(),
    KEY_ENCRYPTION_KEYS,
    LOG_LEVEL: 'info',
  });
  try {
    await work(await ready());
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
};
