import type { SyntaxNode } from '@lezer/common';
import { parser } from '@prometheus-io/lezer-promql';

/** The labels of each metric, as Prometheus stores them. */
export type Series = ReadonlyMap<string, ReadonlySet<string>>;

/** What Prometheus itself adds to a metric, and what workers add. */
const ADDED = ['job', 'instance', 'worker'];
/** Metrics that Prometheus makes of each scrape. */
const OWN_METRICS: [string, Set<string>][] = [['up', new Set(ADDED)]];

const LINE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? \S+$/gm;

/**
 * The metrics of the text that services serve. A label `job` is stored as `exported_job`, because Prometheus names the
 * service so.
 */
export const seriesOf = (...texts: readonly string[]): Series => {
  const series = new Map(OWN_METRICS);
  for (const [, name = '', labels = ''] of texts.join('\n').matchAll(LINE)) {
    const known = series.get(name) ?? new Set(ADDED);
    for (const [, label = ''] of labels.matchAll(/([a-zA-Z_]\w*)="/g)) {
      known.add(label === 'job' ? 'exported_job' : label);
    }
    series.set(name, known);
  }
  return series;
};

const descendants = (node: SyntaxNode, name: string): SyntaxNode[] => {
  const found: SyntaxNode[] = [];
  node.cursor().iterate((one) => {
    if (one.name === name) found.push(one.node);
  });
  return found;
};

/** What is wrong with an expression: its syntax, metrics that do not exist, and labels that they do not have. */
export const problemsOf = (text: string, series: Series): readonly string[] => {
  const top = parser.parse(text).topNode;
  const said = (node: SyntaxNode): string => text.slice(node.from, node.to);
  const isBroken = descendants(top, '⚠').length > 0;
  if (isBroken) return [`cannot be parsed: ${text}`];
  const metricOf = (selector: SyntaxNode): string => {
    const name = selector.getChild('Identifier');
    return name ? said(name) : '';
  };
  const selectors = descendants(top, 'VectorSelector');
  if (selectors.length === 0) return [`has no metric: ${text}`];
  const unknown = selectors.map(metricOf).filter((name) => !series.has(name));
  const matched = selectors.flatMap((selector) => {
    const known = series.get(metricOf(selector));
    const labels = descendants(selector, 'LabelName').map(said);
    return labels
      .filter((label) => known && !known.has(label))
      .map((label) => `${metricOf(selector)}{${label}}`);
  });
  const grouped = descendants(top, 'AggregateExpr').flatMap((aggregate) => {
    const metrics = descendants(aggregate, 'VectorSelector').map(metricOf);
    const labels = aggregate.getChild('AggregateModifier');
    if (!labels) return [];
    return descendants(labels, 'LabelName')
      .map(said)
      .filter((label) => !metrics.some((name) => series.get(name)?.has(label)))
      .map((label) => `${metrics.join(', ')} by ${label}`);
  });
  return [...unknown, ...matched, ...grouped];
};
