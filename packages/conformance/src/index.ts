export { type OpenApiDocument, type Operation, operationsOf } from './document.ts';
export { type ObservedResponse, type Observer, observeResponses } from './observe.ts';
export { createResponseChecker, type ResponseChecker } from './response-checker.ts';
export type { Subject, Tenant } from './subject.ts';
export { conformance } from './suite.ts';
