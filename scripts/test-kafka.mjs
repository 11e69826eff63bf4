// `pnpm test:kafka`: the tests that a broker takes part in, against Apache Kafka. Needs Java and Maven
// beside Node, and the network the first time. Further arguments go to jest.
import { install } from '../infra/kafka/install.mjs';
import { bootstrap, run } from './bootstrap.mjs';

bootstrap();
try {
  install();
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
run(process.execPath, [
  '--experimental-vm-modules',
  '--no-warnings',
  'node_modules/jest/bin/jest.js',
  '--config=infra/kafka/jest.config.mjs',
  ...process.argv.slice(2),
]);
