import { compare } from '../comparison.ts';
import type { Scenario } from '../scenario.ts';

/**
 * Requests something that does not exist; runs only if selected, to verify that the smoke run detects failures.
 */
export const canary: Scenario = {
  name: 'canary',
  run: async (bench) => {
    const cpu = () => bench.system.cpu('identity');
    const url = `${bench.system.stack.identity.url}/api/health`;
    return [
      await compare(bench, {
        what: 'a planted fault',
        subject: { request: { url: `${url}/not-there` }, cpu },
        floor: { request: { url }, cpu },
        target: 0,
      }),
    ];
  },
};
