export {
  type RecordsOf,
  type SeedRecordsOptions,
  seedContacts,
  seedRecords,
} from './seed-records.ts';
