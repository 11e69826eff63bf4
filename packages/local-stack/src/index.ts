export {
  type Application,
  isReady,
  nodeArguments,
  testedFrom,
  testedProgram,
} from './application.ts';
export { type Broker, type BrokerOptions, startBroker } from './broker.ts';
export {
  type CitusPreparation,
  citusNodes,
  dropCitusDatabases,
  freshCitusDatabase,
} from './citus-database.ts';
export { type Deferred, deferred } from './deferred.ts';
export { DeploymentAutomationStandIn, type Fault } from './deployment-automation/stand-in.ts';
export { type FailoverPair, startFailoverPair } from './failover-pair.ts';
export { freePort } from './free-port.ts';
export { freezePostgres } from './frozen-postgres.ts';
export { fixedPrincipal } from './identity-stub/stub.ts';
export { type KeptRunning, keepRunning } from './keep-running.ts';
export { type LocalDatabases, localDatabases } from './local-databases.ts';
export { type PgBouncer, startPgBouncer } from './pgbouncer.ts';
export {
  type Postgres,
  type PostgresOptions,
  startPostgres,
  throwawaySettings,
} from './postgres.ts';
export { type RedisServer, startRedis } from './redis.ts';
export { type Replicated, startReplicated } from './replicated-postgres.ts';
export { type S3Server, startS3 } from './s3.ts';
export { type ServiceProcess, spawnService } from './service-process.ts';
export { shardReport } from './shard-report.ts';
export { type SmtpOptions, type SmtpServer, startSmtp } from './smtp.ts';
export { type Stack, type StackOptions, startStack } from './stack.ts';
export { type SupervisedProcess, superviseProcess } from './supervised-process.ts';
export { signIn } from './system/people.ts';
export { call, callUntil } from './system/requests.ts';
export { type RoundRobin, startRoundRobin } from './system/round-robin.ts';
export { startTestStack, type TestStack } from './system/test-stack.ts';
export { freshDatabase, type TestDatabase } from './test-database.ts';
export { until } from './until.ts';
export { untilConnected } from './until-connected.ts';
export { withoutSchemas } from './without-schemas.ts';
