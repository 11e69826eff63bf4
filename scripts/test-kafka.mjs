// `pnpm test:kafka`: the tests that a broker takes part in, against Apache Kafka. Needs Java and Maven
// beside Node, and the network the first time. Further arguments go to jest.
import { bootstrap, run } from './bootstrap.mjs';

bootstrap();
run(process.execPath, ['--import', 'tsx', 'infra/kafka/kafka.mjs', '--prepare']);
run(process.execPath, [
  '--experimental-vm-modules',
  '--no-warnings',
  'node_modules/jest/bin/jest.js',
  '--config=infra/kafka/jest.config.mjs',
  ...process.argv.slice(2),
]);
