// Run by scripts/identity-admin.mjs. TESSERA_DATA overrides the data folder.
import { administer } from './administer.ts';

try {
  process.exitCode = await administer(process.argv.slice(2), process.env.TESSERA_DATA);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
