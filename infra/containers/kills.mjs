import { proveMail, proveWorks } from './api.mjs';
import { within } from './within.mjs';

const SERVICES = ['postgres', 'kafka', 'redis', 'mail', 'identity', 'crm'];

/**
 * Kills the first process of a container, as the kernel does where memory runs out. (`docker kill` counts as
 * a person's wish: the engine does not start the container again.)
 */
const kill = async (project, { State }, image) => {
  const shell = ['--entrypoint', 'sh', image, '-c', `kill -KILL ${State.Pid}`];
  const host = ['--pid', 'host', '--network', 'none', '--user', 'root'];
  await project.docker(['run', '--rm', ...host, ...shell]);
};

/** Kills each container once, and proves after each that the system works again by itself. Gives the times. */
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
