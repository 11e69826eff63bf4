import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { root } from './bootstrap.mjs';

const folder = join(root, 'infra', 'observability');

const promtool = (...args) => {
  const { status, error } = spawnSync('promtool', args, { cwd: folder, stdio: 'inherit' });
  if (error) throw new Error('promtool is missing; install Prometheus.', { cause: error });
  return status === 0;
};

const anchorOf = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-');

const alertsOf = (rules) => parse(rules).groups.flatMap((group) => group.rules);

/** The headings of a page as addresses. */
const headingsOf = (page) => {
  const document = readFileSync(join(root, page), 'utf8');
  return [...document.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => `${page}#${anchorOf(heading)}`);
};

/** The runbooks of alert rules that are no headings of the documentation. */
const missingRunbooks = (rules) => {
  const known = new Set(['docs/operations.md', 'docs/runbook.md'].flatMap(headingsOf));
  return alertsOf(rules)
    .map(({ annotations }) => String(annotations?.runbook_url))
    .filter((url) => !known.has(url));
};

/** The alerts without a severity, a summary, or a test in which they fire. */
const incompleteAlerts = (rules, tests) => {
  const fired = parse(tests).tests.flatMap(({ alert_rule_test: cases }) =>
    cases.filter(({ exp_alerts: expected }) => expected.length > 0),
  );
  const tested = new Set(fired.map(({ alertname }) => alertname));
  return alertsOf(rules)
    .filter(
      ({ alert, labels, annotations }) =>
        !tested.has(alert) || !labels?.severity || !annotations?.summary,
    )
    .map(({ alert }) => alert);
};

/** Whether promtool parses every expression of the dashboards. */
const dashboardsParse = () => {
  const expressions = readdirSync(join(folder, 'dashboards')).flatMap((file) => {
    const model = JSON.parse(readFileSync(join(folder, 'dashboards', file), 'utf8'));
    return model.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  });
  if (expressions.length === 0) throw new Error('The dashboards have no expressions.');
  const rules = expressions.map((expr, at) => ({
    record: `dashboard:expression:${at}`,
    expr: expr.replaceAll('$__rate_interval', '5m'),
  }));
  const directory = mkdtempSync(join(tmpdir(), 'tessera-dashboards-'));
  try {
    const file = join(directory, 'dashboards.yml');
    writeFileSync(file, stringify({ groups: [{ name: 'dashboards', rules }] }));
    return promtool('check', 'rules', file);
  } finally {
    rmSync(directory, { recursive: true });
  }
};

/**
 * Whether the alert rules are complete, valid, fire as their tests say, and name runbooks that exist, and the dashboards
 * are valid.
 */
export const alertRules = () => {
  const rules = readFileSync(join(folder, 'alerts.yml'), 'utf8');
  const tests = readFileSync(join(folder, 'alerts.test.yml'), 'utf8');
  const planted = rules.replace('operations.md#events', 'operations.md#evnets');
  if (missingRunbooks(planted).length === missingRunbooks(rules).length) {
    throw new Error('A planted runbook that does not exist was not found.');
  }
  const missing = missingRunbooks(rules);
  if (missing.length > 0) throw new Error(`These runbooks do not exist: ${missing.join(', ')}`);
  const untested = tests.replaceAll('alertname: FilesAreMissing', 'alertname: None');
  if (incompleteAlerts(rules, untested).join() !== 'FilesAreMissing') {
    throw new Error('A planted alert without a test was not found.');
  }
  const incomplete = incompleteAlerts(rules, tests);
  if (incomplete.length > 0) {
    throw new Error(`These alerts lack a severity, a summary or a test: ${incomplete.join(', ')}`);
  }
  return (
    dashboardsParse() &&
    promtool('check', 'config', 'prometheus.yml') &&
    promtool('test', 'rules', 'alerts.test.yml')
  );
};
