export { type AnswerChecker, createAnswerChecker } from './answer-checker.ts';
export { type OpenApiDocument, type Operation, operationsOf } from './document.ts';
export { type ObservedResponse, type Observer, observeAnswers } from './observe.ts';
export type { Subject, Tenant } from './subject.ts';
export { conformance } from './suite.ts';
