// `npm run test:clamd`: runs the tests of malware scans with ClamAV. Needs `clamd`. Further arguments are
// passed to Jest.
import { bootstrap, jest } from './bootstrap.mjs';

bootstrap();
jest('--config=infra/clamd/jest.config.mjs');
