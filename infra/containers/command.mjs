import { spawn } from 'node:child_process';
import { once } from 'node:events';

const SHOWN_CHARACTERS = 6000;
const LIMIT_MS = 15 * 60_000;

const running = new Set();
let isInterrupted = false;

/** Ends running commands and rejects new ones, except for cleanup. */
export const interruptCommands = () => {
  isInterrupted = true;
  for (const child of running) child.kill('SIGTERM');
};

/** Throws after an interruption; for work without commands. */
export const refuseInterrupted = () => {
  if (isInterrupted) throw new Error('Interrupted.');
};

/**
 * Runs a command and gives its standard output. Throws, with the end of its output, if its exit code
 * is not 0.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {{ input?: string, directory?: string, environment?: Record<string, string>, limitMs?: number,
 *   isCleaning?: boolean }} options `isCleaning`: it also runs after an interruption.
 */
export const run = async (command, args, options = {}) => {
  const { input = '', directory, environment, limitMs = LIMIT_MS, isCleaning = false } = options;
  if (!isCleaning) refuseInterrupted();
  const child = spawn(command, args, {
    cwd: directory,
    env: { ...process.env, ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: limitMs,
  });
  if (!isCleaning) running.add(child);
  const output = [];
  const everything = [];
  child.stdout.on('data', (chunk) => output.push(chunk) && everything.push(chunk));
  child.stderr.on('data', (chunk) => everything.push(chunk));
  // A command may exit without reading its input.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  try {
    const [code, signal] = await once(child, 'close');
    if (code === 0) return Buffer.concat(output).toString();
    const tail = Buffer.concat(everything).toString().trim().slice(-SHOWN_CHARACTERS);
    throw new Error(`${[command, ...args].join(' ')} ended with ${code ?? signal}:\n${tail}`);
  } finally {
    running.delete(child);
  }
};

/** Whether a command can be run and succeeds. */
export const succeeds = (command, args, options) =>
  run(command, args, options).then(
    () => true,
    () => false,
  );
