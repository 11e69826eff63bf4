// `npm run test:kafka`: runs the tests that use a broker on Apache Kafka. Needs Java and Maven, and the network
// the first time. Further arguments are passed to Jest.
import { bootstrap, jest, run } from './bootstrap.mjs';

bootstrap();
run(process.execPath, ['--import', 'tsx', 'infra/kafka/kafka.mjs', '--prepare']);
jest('--config=infra/kafka/jest.config.mjs');
