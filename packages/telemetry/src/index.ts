export { inRequestSpan, traceRequests } from './requests.ts';
export {
  currentTraceparent,
  isInSpan,
  type SpanOptions,
  span,
  spanAfter,
  spanIds,
  spanWithin,
} from './spans.ts';
export { startTelemetry } from './start.ts';
