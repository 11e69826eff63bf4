// Checks the GitHub workflows: with actionlint, that each states its permissions, and that actions are pinned.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { root } from './bootstrap.mjs';
import { goProgram } from './go-program.mjs';
import { isProgram } from './program.mjs';

const folder = '.github/workflows';

/** What each must be found by. */
const planted = [
  ['runs-on: ubuntu-latest', 'runs-on: ubuntu-latst', 'label "ubuntu-latst" is unknown'],
  ['true\n', `echo "\${{ github.event.pull_request.title }}"\n`, 'potentially untrusted'],
  ['permissions:\n  contents: read\n', '', 'states no permissions'],
  ['contents: read', 'contents: write', 'may write in all jobs'],
  ['run: true', 'uses: actions/checkout@v4', 'actions/checkout@v4 is not pinned to a commit'],
];
const innocent = `on: push
permissions:
  contents: read
jobs:
  planted:
    runs-on: ubuntu-latest
    steps:
      - run: true
`;

const lint = (name, source) => {
  const { status, stdout, stderr, error } = spawnSync(
    goProgram('github.com/rhysd/actionlint/cmd/actionlint', 'v1.7.12'),
    // Whether these programs are installed must not matter.
    ['-no-color', '-oneline', '-shellcheck=', '-pyflakes=', `-stdin-filename=${name}`, '-'],
    { input: source, encoding: 'utf8', cwd: root },
  );
  // 1 means that problems were found.
  if (status !== 0 && status !== 1)
    throw new Error(`actionlint failed: ${stderr || error?.message}`);
  return stdout.split('\n').filter(Boolean);
};

/** What is wrong with the permissions that apply to all jobs: least privilege is granted by job. */
const permissionFaults = (name, source) => {
  const { permissions } = parse(source);
  if (permissions === undefined) return [`${name}: states no permissions`];
  const levels = typeof permissions === 'string' ? [permissions] : Object.values(permissions);
  return levels.some((level) => level.startsWith('write'))
    ? [`${name}: may write in all jobs; grant this to one job`]
    : [];
};

/** Actions that are not pinned: a tag can be moved to another commit, which then runs with our permissions. */
const actionFaults = (name, source) =>
  [...source.matchAll(/^\s*(?:- )?uses: *(\S+)/gm)]
    .map(([, action]) => action)
    .filter((action) => !action.startsWith('./') && !/@[0-9a-f]{40}$/.test(action))
    .map((action) => `${name}: ${action} is not pinned to a commit`);

const faults = (name, source) => [
  ...lint(name, source),
  ...permissionFaults(name, source),
  ...actionFaults(name, source),
];

/** Whether all workflows are right; throws if a planted fault is not found. */
export const workflows = () => {
  if (faults('innocent.yml', innocent).length > 0) throw new Error('A right workflow is refused.');
  for (const [from, to, expected] of planted) {
    const found = faults('planted.yml', innocent.replace(from, to));
    if (found.some((fault) => fault.includes(expected))) continue;
    throw new Error(`Not found: ${expected}; found: ${found.join('\n')}`);
  }
  const problems = readdirSync(join(root, folder)).flatMap((name) => {
    const path = `${folder}/${name}`;
    return faults(path, readFileSync(join(root, path), 'utf8'));
  });
  for (const problem of problems) console.error(problem);
  return problems.length === 0;
};

if (isProgram(import.meta.url)) {
  process.exitCode = workflows() ? 0 : 1;
}
