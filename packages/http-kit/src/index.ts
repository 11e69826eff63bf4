export { type Application, type ApplicationOptions, createApplication } from './application.ts';
export {
  type Attempts,
  type AttemptsOptions,
  createAttempts,
  createFailures,
  type Failures,
  tooManyAttempts,
} from './attempts.ts';
export { bearerToken } from './bearer.ts';
export { countedBody } from './bodies/counted-body.ts';
export { parseJson } from './bodies/parse-json.ts';
export { type BodyErrors, type BodyKey, readBytes } from './bodies/read-bytes.ts';
export { jsonBody } from './body.ts';
export {
  type AddressScope,
  addressScopeOf,
  clientAddress,
  hostOf,
  networkOf,
} from './client-address.ts';
export { type Counters, createCounters } from './counters.ts';
export {
  bearerScheme,
  type CredentialScheme,
  type Credentials,
  type SecuritySchemes,
  tokenMatcher,
  withCredentials,
} from './credentials.ts';
export type { ErrorExample } from './error-examples.ts';
export { type ErrorHandlerOptions, errorHandler, unknownRoute } from './error-handler.ts';
export { EventQueue, type EventQueueOptions } from './event-streams/event-queue.ts';
export {
  type ClosedEvent,
  closedEvent,
  type EventOf,
  type EventSource,
  type EventStream,
  eventStream,
  lastEventId,
  type NamedEvent,
  type PositionMark,
  type ServerSentEvent,
  StreamClosed,
} from './event-streams/event-stream.ts';
export { serialised } from './event-streams/serialised-event.ts';
export { readInBatches } from './exports/batches.ts';
export { Exports, type ExportsOptions } from './exports/exports.ts';
export {
  csvFile,
  csvResponse,
  type ExportFormat,
  exportFormat,
  exportHeaders,
  type ListEnvelope,
  type ListExport,
  type ListExportOptions,
  listExports,
} from './exports/list-export.ts';
export { isKnown, type Validators } from './files/conditions.ts';
export { mediaTypeOf, SAMPLE_BYTES } from './files/content-type.ts';
export { cutName } from './files/cut-name.ts';
export { detectType } from './files/detect-type.ts';
export {
  type FileBody,
  type FileBodyOptions,
  fileBody,
  isFileBody,
  type ReceivedFile,
} from './files/file-body.ts';
export {
  type ByteRange,
  type FileResponse,
  fileResponse,
  type ServedFile,
  whileFound,
} from './files/file-response.ts';
export type { UploadLimit } from './files/upload-slots.ts';
export type { Gate } from './gate.ts';
export { hasBody } from './has-body.ts';
export type { RequestHeader, ResponseHeader } from './headers.ts';
export { type HealthOptions, healthRoutes } from './health.ts';
export {
  HttpError,
  invalidField,
  notFound,
  unauthenticated,
  unavailable,
  validationFailed,
} from './http-error.ts';
export {
  type Idempotency,
  idempotencyKeyInUse,
  idempotencyKeyReused,
  type KeyedRequest,
  type RepeatableResponse,
} from './idempotency.ts';
export { InFlight } from './in-flight.ts';
export { JsonText } from './json-text.ts';
export {
  addressKey,
  createLimits,
  type LimitClass,
  type Limits,
  type LimitsOptions,
} from './limits.ts';
export { createLogger, type Logger, requestLog } from './logs.ts';
export { createMetrics, type Metrics } from './metrics.ts';
export { type MountOptions, mount } from './mount.ts';
export { flatten } from './named-routes.ts';
export { openapi } from './openapi/openapi.ts';
export { type DocumentOptions, standardProblems } from './openapi/options.ts';
export { packageVersion } from './package-version.ts';
export {
  lastPage,
  type PageParameters,
  type PageRequest,
  pageParameters,
  pageWithin,
} from './page.ts';
export {
  type DeniedAccess,
  deniedAccessFields,
  permissionDenied,
  resourceIdOf,
} from './permission-denied.ts';
export { runProcess } from './process.ts';
export { connectRedis, type RedisConnection } from './redis.ts';
export { reference } from './reference.ts';
export { type RootOptions, rootRoute, ServiceInformation, sendServicePage } from './root.ts';
export {
  type Access,
  type Binary,
  binary,
  credentialRoutesFor,
  type DeclaredResponse,
  type Empty,
  empty,
  forwarded,
  type HandlerInput,
  isBinary,
  type Problem,
  permissionsOf,
  type Reply,
  type RequestBody,
  type Responses,
  type Route,
  type RouteEntry,
  type RouteGroups,
  type RouteTable,
  routesFor,
  type Streamed,
  type StreamedBody,
  streamed,
  under,
} from './route.ts';
export { securityHeaders } from './security.ts';
export { send } from './send.ts';
export { type Listening, listen, PortInUseError } from './serve.ts';
export { requests, serviceSettings, serviceUrl, serviceVariables } from './service-settings.ts';
export { readSettings } from './settings.ts';
