import { proveMail, proveWorks } from './api.mjs';
import { within } from './within.mjs';

const SERVICES = ['postgres', 'kafka', 'redis', 'mail', 'identity', 'crm'];

/**
 * Kills the main process of a container, as the kernel does when out of memory. (After `docker kill`, the
 * engine would not restart the container.)
 */
const kill = async (project, { State }, image) => {
  const shell = ['--entrypoint', 'sh', image, '-c', `kill -KILL ${State.Pid}`];
  const host = ['--pid', 'host', '--network', 'none', '--user', 'root'];
  await project.docker(['run', '--rm', ...host, ...shell]);
};

/** Kills each container once and verifies that the system recovers. Returns the recovery times. */
export const killEach = async (project, system) => {
  const { Config } = await project.container('postgres');
  const times = [];
  for (const service of SERVICES) {
    const before = await project.container(service);
    const started = Date.now();
    await kill(project, before, Config.Image);
    await within(`${service} runs again`, async () => {
      const { State } = await project.container(service);
      return State.Running && State.StartedAt !== before.State.StartedAt;
    });
    await within(`the system works without the ${service} that was killed`, async () => {
      await proveWorks(system);
      return true;
    });
    if (service === 'mail') await proveMail(system, project.ports.mail);
    times.push([
      `${service} killed, works again after`,
      `${((Date.now() - started) / 1000).toFixed(1)} s`,
    ]);
  }
  return times;
};
