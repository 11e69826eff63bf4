// `npm run test:kafka`: the tests that a broker takes part in, against Apache Kafka. Needs Java and Maven
// beside Node, and the network the first time. Further arguments go to jest.
import { bootstrap, jest, run } from './bootstrap.mjs';

bootstrap();
run(process.execPath, ['--import', 'tsx', 'infra/kafka/kafka.mjs', '--prepare']);
jest('--config=infra/kafka/jest.config.mjs');
