import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';

const folder = new URL('../../../infra/observability/', import.meta.url);

interface Rules {
  readonly groups: readonly { readonly rules: readonly { alert: string; expr: string }[] }[];
}

interface Model {
  readonly panels: readonly {
    readonly title: string;
    readonly targets?: readonly { readonly expr: string }[];
  }[];
}

/** An expression of PromQL, and where it is. */
export interface Expression {
  readonly place: string;
  readonly text: string;
}

/** Every expression of the alert rules and the committed dashboards. Grafana's variables have values. */
export const allExpressions = (): readonly Expression[] => {
  const rules = parse(readFileSync(new URL('alerts.yml', folder), 'utf8')) as Rules;
  const alerts = rules.groups.flatMap((group) =>
    group.rules.map(({ alert, expr }) => ({ place: alert, text: expr })),
  );
  const panels = readdirSync(new URL('dashboards/', folder)).flatMap((file) => {
    const model = JSON.parse(readFileSync(new URL(`dashboards/${file}`, folder), 'utf8')) as Model;
    return model.panels.flatMap(({ title, targets = [] }) =>
      targets.map(({ expr }) => ({
        place: `${file}: ${title}`,
        text: expr.replaceAll('$__rate_interval', '5m'),
      })),
    );
  });
  return [...alerts, ...panels];
};
