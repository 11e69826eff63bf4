export {
  type EventLoopWatch,
  eventLoopOf,
  type OperationOnLoop,
  whileWaiting,
} from './event-loop.ts';
export { inRequestSpan, traceRequests } from './requests.ts';
export {
  currentTraceparent,
  isInSpan,
  isTracing,
  type SpanOptions,
  span,
  spanAfter,
  spanIds,
  spanWithin,
} from './spans.ts';
export { startMetricExport, startTelemetry } from './start.ts';
