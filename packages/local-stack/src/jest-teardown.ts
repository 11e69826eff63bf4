import type { TestServers } from './jest-setup.ts';

/** Jest's globalTeardown: stops what jest-setup.ts started. */
export default async function teardown(): Promise<void> {
  const { testServers } = globalThis as unknown as { testServers: TestServers };
  testServers.listener.close();
  testServers.listener.closeAllConnections();
  const postgres = await testServers.postgres?.catch(() => undefined);
  await postgres?.stop();
}
