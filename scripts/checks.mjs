// Runs the steps of `npm run check`. Each step and each test counts as one; the last line is the total.
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noProcessLeft } from './check-processes.mjs';
import { lanes, preparations } from './check-steps.mjs';
import { inOwnGroup } from './own-group.mjs';

let passed = 0;
let failed = 0;
const failures = [];
/** Files of tests that failed first and passed when they ran by themselves. */
const flaky = [];
/** How long each step and each file of tests took, in milliseconds; of steps also the CPU seconds. */
const steps = [];
const files = [];
const SLOWEST_FILES = 15;
/** How long a step may take to end after a signal: more than the programs that it runs. */
const STEP_PATIENCE_MS = 20_000;

const seconds = (duration) => (duration / 1000).toFixed(1);
const minutes = (duration) => (duration / 60_000).toFixed(1).padStart(6);

const count = (name, isRight) => {
  if (isRight) passed += 1;
  else {
    failed += 1;
    failures.push(name);
  }
};

/** Runs a step in a process of its own, with this standard output, and adds up its outcome. */
const runStep = async ({ name }, output) => {
  const started = Date.now();
  let outcome = { isRight: false };
  const hasSucceeded = await inOwnGroup(process.execPath, ['scripts/check-step.mjs', name], {
    stdio: ['ignore', output, output, 'ipc'],
    patienceMs: STEP_PATIENCE_MS,
    onMessage: (message) => {
      outcome = message;
    },
  });
  // A step may fail after it has sent its outcome.
  const isRight = hasSucceeded && outcome.isRight;
  const duration = Date.now() - started;
  count(name, isRight);
  passed += outcome.passed ?? 0;
  failed += outcome.failed ?? 0;
  flaky.push(...(outcome.flaky ?? []));
  files.push(...(outcome.files ?? []));
  steps.push({ name, duration, cpu: outcome.cpu });
  return `${isRight ? 'passed' : 'FAILED'}: ${name} (${seconds(duration)} s)`;
};

const runVisibly = async (step) => {
  console.log(`\n--- ${step.name}`);
  console.log(await runStep(step, 'inherit'));
};

/** Prints what a step printed when it has ended, so that the output of two steps does not mix. */
const runBeside = async (step) => {
  console.log(`started beside: ${step.name}`);
  const directory = mkdtempSync(join(tmpdir(), 'tessera-step-'));
  const path = join(directory, 'output');
  const output = openSync(path, 'w');
  try {
    const result = await runStep(step, output);
    console.log(`\n--- ${step.name}\n${readFileSync(path, 'utf8')}${result}`);
  } finally {
    closeSync(output);
    rmSync(directory, { recursive: true });
  }
};

const inOrder = async (list, run) => {
  for (const step of list) await run(step);
};

const startedAll = Date.now();
const before = noProcessLeft.running();
await inOrder(preparations, runVisibly);
// The tests start services as the images do, from the bundle, which takes a fifth of the CPU time of starting them from
// their sources.
if (!failures.includes('both services can be bundled')) process.env.TEST_PROGRAMS = 'bundle';
const [visible, ...others] = lanes;
await Promise.all([
  inOrder(visible, runVisibly),
  ...others.map((lane) => inOrder(lane, runBeside)),
]);
const left = await noProcessLeft.since(before).catch((error) => error);
if (left) console.error(left.message);
count('no process is left behind', !left);

const slowestFirst = (one, other) => other.duration - one.duration;
console.log('\nMinutes of each step, and of CPU time:');
for (const { name, duration, cpu } of steps.sort(slowestFirst)) {
  console.log(`${minutes(duration)} ${cpu === undefined ? '' : minutes(cpu * 1000)}  ${name}`);
}
console.log(`${minutes(Date.now() - startedAll)}  in all`);
console.log('\nSeconds of the slowest test files:');
for (const { name, duration } of files.sort(slowestFirst).slice(0, SLOWEST_FILES)) {
  console.log(`${seconds(duration).padStart(6)}  ${name}`);
}
console.log('');
for (const file of flaky) console.log(`FLAKY, passed when it ran again, must be fixed: ${file}`);
for (const name of failures) console.log(`FAILED: ${name}`);
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
