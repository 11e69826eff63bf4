import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
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

/** The runbooks of alert rules that are no headings of docs/operations.md; throws if an alert has none. */
const missingRunbooks = (rules, document) => {
  const anchors = [...document.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchorOf(heading));
  const known = new Set(anchors.map((anchor) => `docs/operations.md#${anchor}`));
  const urls = [...rules.matchAll(/runbook_url: (\S+)/g)].map(([, url]) => url);
  const alerts = [...rules.matchAll(/- alert: /g)];
  if (alerts.length === 0 || urls.length !== alerts.length) {
    throw new Error('Each alert needs a runbook_url.');
  }
  return urls.filter((url) => !known.has(url));
};

/** Whether the alert rules are valid, fire as their tests say, and name runbooks that exist. */
export const alertRules = () => {
  const rules = readFileSync(join(folder, 'alerts.yml'), 'utf8');
  const document = readFileSync(join(root, 'docs', 'operations.md'), 'utf8');
  const planted = rules.replace('operations.md#events', 'operations.md#evnets');
  if (missingRunbooks(planted, document).length !== 1) {
    throw new Error('A planted runbook that does not exist was not found.');
  }
  const missing = missingRunbooks(rules, document);
  if (missing.length > 0) throw new Error(`These runbooks do not exist: ${missing.join(', ')}`);
  return promtool('check', 'rules', 'alerts.yml') && promtool('test', 'rules', 'alerts.test.yml');
};
