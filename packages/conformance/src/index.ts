export { type OpenApiDocument, type Operation, operationsOf } from './document.ts';
export {
  type EventLoopOptions,
  eventLoop,
  keepsEventLoop,
  type PreparedRequest,
  sendPrepared,
} from './event-loop/suite.ts';
export { type ObservedResponse, type Observer, observeResponses } from './observe.ts';
export { createResponseChecker, type ResponseChecker } from './response-checker.ts';
export { documentOf } from './shared-document.ts';
export { call, createResources, type Subject, type Tenant, validBody } from './subject.ts';
export { conformance } from './suite.ts';
