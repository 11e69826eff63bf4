// `npm run test:s3`: runs the tests of files in S3 on S3Mock. Needs Java and Maven, and the network the first time.
// Further arguments are passed to Jest.
import { install } from '../infra/s3/install.mjs';
import { bootstrap, jest } from './bootstrap.mjs';

bootstrap();
try {
  install();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
jest('--config=infra/s3/jest.config.mjs');
