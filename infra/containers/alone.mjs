import { call } from '../../packages/local-stack/src/system/requests.ts';
import { seedAccounts } from './accounts.mjs';
import { createContact, signIn } from './api.mjs';
import { within } from './within.mjs';

/**
 * Starts two replicas of identity on an empty database, and verifies that they serialize its migrations.
 */
const proveTurns = async (project) => {
  await project.up('postgres', 'kafka', 'redis', 'mail');
  await project.compose(['run', '--rm', 'databases']);
  const second = ['run', '--detach', '--no-deps', 'identity'];
  const [, output] = await Promise.all([project.up('identity'), project.compose(second)]);
  const id = output.trim().split('\n').at(-1);
  await within('the second replica is healthy', async () => {
    const [{ State }] = JSON.parse(await project.docker(['inspect', id]));
    if (!State.Running) throw new Error(await project.docker(['logs', id]));
    return State.Health.Status === 'healthy';
  });
  await project.docker(['rm', '--force', id]);
};

/**
 * Verifies that identity runs alone with its dependencies, and that CRM runs alone in another project with that
 * identity.
 */
export const proveAlone = async (identity, crm, directory) => {
  await proveTurns(identity);
  const system = await seedAccounts(identity, directory);
  const token = await signIn(system, 'owner');
  await crm.up('crm-alone');
  // A host name on another machine in practice; here a name in the same network.
  const { Id } = await identity.container('identity');
  await crm.docker(['network', 'connect', '--alias', 'elsewhere', `${crm.name}_public`, Id]);
  await createContact({ crm_url: crm.urls.crm_url }, token, 'Réka');
  const { status } = await call('GET', `${crm.urls.crm_url}/api/crm/contacts`, {
    token: 'unknown',
  });
  if (status !== 401) throw new Error(`CRM alone responds to an unknown token with ${status}.`);
};
