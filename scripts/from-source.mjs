import { spawn } from 'node:child_process';
import { bootstrap, root } from './bootstrap.mjs';

/**
 * Runs a program of ours from its sources, with these arguments, and ends with its exit code. The signals
 * named are passed on to it. Ctrl-C reaches the whole process group, the program included: SIGINT is passed
 * on only to a program that a second one does not harm.
 */
export const runFromSource = (file, args, signals = ['SIGTERM', 'SIGHUP']) => {
  bootstrap();
  const program = spawn(
    process.execPath,
    ['--conditions=source', '--import', 'tsx', file, ...args],
    { cwd: root, stdio: 'inherit' },
  );
  process.on('SIGINT', () => {});
  for (const signal of signals) process.on(signal, () => program.kill(signal));
  program.on('exit', (code) => {
    process.exitCode = code ?? 1;
  });
};
