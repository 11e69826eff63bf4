import { createWriteStream } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { UNREADABLE } from '../types.ts';
import { confine } from './confinement.ts';

/** The exit code if the task rejects with this error. */
export class TaskFailed extends Error {
  readonly exitCode: number;

  constructor(exitCode: number, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

/**
 * Runs the task that the arguments of this process name, within the limits that they give: reads the content from the standard
 * input, and writes the result to the file descriptor 3.
 */
export const runTask = async (
  tasks: Readonly<Record<string, (content: Buffer, type: string) => Promise<string | Buffer>>>,
): Promise<void> => {
  const [task = '', type = '', seconds = '', memoryBytes = ''] = process.argv.slice(2);
  confine({ seconds: Number(seconds), memoryBytes: Number(memoryBytes) });
  const work = tasks[task];
  if (!work) throw new TypeError(`There is no task "${task}".`);
  const result = await work(await buffer(process.stdin), type).catch((error: unknown) => {
    process.exitCode = error instanceof TaskFailed ? error.exitCode : UNREADABLE;
    return error instanceof Error ? error.message : String(error);
  });
  // Timers of libraries must not keep the process alive.
  createWriteStream('', { fd: 3 }).end(result, () => process.exit());
};
