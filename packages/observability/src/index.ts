export { dashboards } from './dashboards/index.ts';
export { allExpressions, type Expression } from './expressions.ts';
export { problemsOf, type Series, seriesOf } from './promql.ts';
