import { spawn } from 'node:child_process';
import { bootstrap, root } from './bootstrap.mjs';

/**
 * Runs a program from its sources with these arguments, and exits with its exit code. The given signals are
 * forwarded to it. Ctrl-C reaches the whole process group including the program, so forward SIGINT only to
 * programs that tolerate receiving it twice.
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
