export { type Broker, type BrokerOptions, startBroker } from './broker.ts';
export {
  type Postgres,
  type PostgresOptions,
  startPostgres,
  throwawaySettings,
} from './postgres.ts';
export { freshDatabase, type TestDatabase } from './test-database.ts';
