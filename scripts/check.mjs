// `npm run check`: runs everything that CI runs. The checks import packages, so these are installed first.
import { bootstrap } from './bootstrap.mjs';

bootstrap();
await import('./checks.mjs');
