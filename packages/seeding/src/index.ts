export { contactRows } from './contact-rows.ts';
export { copyRows, type Row } from './copy.ts';
export { openPool } from './pool.ts';
export { silentProgress, terminalProgress } from './progress.ts';
export { type Seeded, type SeedOptions, seed, seededTables } from './seed.ts';
export {
  type RecordsOf,
  type SeedRecordsOptions,
  seedContacts,
  seedRecords,
} from './seed-records.ts';
