import { VizLegendOptionsBuilder } from '@grafana/grafana-foundation-sdk/common';
import {
  DashboardBuilder,
  DatasourceVariableBuilder,
  RowBuilder,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder } from '@grafana/grafana-foundation-sdk/timeseries';

/** One graph. */
export interface Graph {
  readonly title: string;
  readonly description?: string;
  /** PromQL by legend; a legend may contain labels (`{{operation}}`). */
  readonly queries: Readonly<Record<string, string>>;
  /** Grafana's name of the unit: `s` (seconds), `reqps`, `percentunit`, `bytes`, `short`. */
  readonly unit: string;
}

export interface Row {
  readonly title: string;
  readonly graphs: readonly Graph[];
}

export interface Dashboard {
  /** Part of its address in Grafana; never changes. */
  readonly uid: string;
  readonly title: string;
  readonly rows: readonly Row[];
}

/** The variable with which a viewer chooses Prometheus. */
const DATASOURCE = { type: 'prometheus', uid: '$datasource' };
/** Three graphs in a row of 24 columns. */
const [WIDTH, HEIGHT] = [8, 8];

const panelOf = ({ title, description = '', queries, unit }: Graph, id: number): PanelBuilder => {
  const panel = new PanelBuilder()
    .id(id)
    .title(title)
    .description(description)
    .datasource(DATASOURCE)
    .unit(unit)
    .min(0)
    .legend(new VizLegendOptionsBuilder().showLegend(true))
    .span(WIDTH)
    .height(HEIGHT);
  for (const [at, [legend, expr]] of Object.entries(queries).entries()) {
    panel.withTarget(
      new DataqueryBuilder()
        .datasource(DATASOURCE)
        .refId(String.fromCharCode(65 + at))
        .expr(expr)
        .legendFormat(legend)
        .range(),
    );
  }
  return panel;
};

/** The dashboard as Grafana imports it. */
export const grafanaModel = ({ uid, title, rows }: Dashboard): object => {
  const builder = new DashboardBuilder(title)
    .uid(uid)
    .tags(['tessera'])
    .refresh('30s')
    .time({ from: 'now-1h', to: 'now' })
    .readonly()
    .withVariable(
      new DatasourceVariableBuilder('datasource').label('Prometheus').type('prometheus'),
    );
  let id = 0;
  for (const row of rows) {
    id += 1;
    builder.withRow(new RowBuilder(row.title).id(id));
    for (const graph of row.graphs) {
      id += 1;
      builder.withPanel(panelOf(graph, id));
    }
  }
  return builder.build();
};
