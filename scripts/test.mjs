// `npm test`: everything that needs Node alone. Further arguments go to jest.
import { bootstrap, jest } from './bootstrap.mjs';

const leftOut = {
  'npm run test:kafka': 'the events on Apache Kafka (Java, Maven)',
  'npm run test:redis': 'the limits that replicas share (redis-server)',
  'npm run test:browser': 'the pages in a browser (Chromium)',
};

bootstrap();
console.log('Left out here, because it needs more than Node:');
for (const [command, what] of Object.entries(leftOut)) console.log(`  ${command}: ${what}`);
jest();
