// Loaded before a service (`--import`) to profile it, because Node does not accept --cpu-prof in NODE_OPTIONS,
// the only way to reach processes started by others.
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import path from 'node:path';

const INTERVAL_MICROSECONDS = 500;
const service = /apps\/(\w+)\/dist\/bundle\/main\.js$/.exec(process.argv[1] ?? '')?.[1];
const { PROFILE_FOLDER: folder } = process.env;

if (service !== undefined && folder !== undefined) {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.setSamplingInterval', { interval: INTERVAL_MICROSECONDS });
  session.post('Profiler.start');
  process.on('exit', () =>
    session.post('Profiler.stop', (_error, { profile }) => {
      const name = `${service}.${process.pid}.cpuprofile`;
      writeFileSync(path.join(folder, name), JSON.stringify(profile));
    }),
  );
}
