#!/usr/bin/env node
// Runs one command for a parent process and never outlives it: when the parent ends for any reason (including
// SIGKILL), the pipe on standard input closes, and the command is stopped with `signal`. A line with the name of a
// signal, written to that pipe, sends that signal to the command. It runs in its own session and does not receive the terminal's Ctrl-C,
// so the parent decides the order of shutdown.
//
// node keep.mjs '{"command", "args", "cwd"?, "uid"?, "gid"?, "signal", "remove"?: a directory to remove
// afterwards, "isolated"?: {"socket", "port"}}'
//
// With `isolated`, it runs in a network namespace of its own, and leads the socket to the port of the command there.
import { spawn, spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { dirname } from 'node:path';

const graceMs = 3000;
const { command, args, cwd, uid, gid, signal, remove, isolated } = JSON.parse(process.argv[2]);

if (isolated) {
  spawnSync('ip', ['link', 'set', 'lo', 'up'], { stdio: 'inherit' });
  createServer((client) => {
    const target = connect(isolated.port, '127.0.0.1');
    client.pipe(target).pipe(client);
    client.on('error', () => {}).once('close', () => target.destroy());
    target.on('error', () => {}).once('close', () => client.destroy());
  }).listen(isolated.socket);
}

const child = spawn(command, args, {
  stdio: ['ignore', 'inherit', 'inherit'],
  cwd,
  uid,
  gid,
});

function end() {
  child.kill(signal);
  // SIGQUIT: PostgreSQL exits without a checkpoint, Go programs exit at once.
  setTimeout(() => child.kill('SIGQUIT'), graceMs).unref();
  // A JVM only prints a thread dump for it.
  setTimeout(() => child.kill('SIGKILL'), 3 * graceMs).unref();
}

function leave(code) {
  if (isolated) rmSync(dirname(isolated.socket), { recursive: true, force: true });
  if (remove) rmSync(remove, { recursive: true, force: true, maxRetries: 3 });
  process.exit(code);
}

child.on('error', (error) => {
  console.error(`${command}: ${error.message}`);
  leave(127);
});
child.on('exit', (code) => leave(code ?? 1));
process.stdin.on('data', (lines) => {
  for (const name of `${lines}`.split('\n').filter(Boolean)) child.kill(name);
});
process.stdin.on('close', end).on('error', end);
for (const asked of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(asked, end);
